//! What colours can show of allocations: each file has one property, with its row of [`KEYS`].

mod age;
mod allocation;
mod category;
mod pool;
mod size;
mod sorted;
mod stack;
mod stream;

pub(super) use category::ByCategory;

use super::coloring::{ColorBy, ColorKey};
use super::palette::{BandColors, Palette, Rgb};
use oomscope_model::{AllocId, PoolKey, ReservedRange, StackId, Timeline};
use std::fmt::Debug;
use std::sync::Arc;

/// All properties, in the order in which they are offered and declared.
pub(super) const KEYS: [KeyRow; 7] =
    [stack::KEY, allocation::KEY, size::KEY, age::KEY, stream::KEY, pool::KEY, category::KEY];

/// A property of allocations that colours show.
pub(super) struct KeyRow {
    pub(super) by: ColorBy,
    pub(super) name: &'static str,
    pub(super) of: fn(&Timeline, &Arc<BandColors>, &Palette) -> Arc<dyn Key>,
}

/// The colours of one property: a class for each value, in the order of the legend.
pub(super) trait Key: Debug + Send + Sync {
    /// Number of classes.
    fn class_count(&self) -> usize;

    /// The class of something.
    fn class(&self, of: &Colored<'_>) -> u8;

    /// The colour of a class.
    fn class_color(&self, class: usize) -> Rgb;

    /// The colour of something, where it may differ from that of its class.
    fn color(&self, of: &Colored<'_>) -> Rgb {
        self.class_color(self.class(of).into())
    }

    /// The legend; empty if there are too many values for one.
    fn legend(&self, _timeline: &Timeline) -> Vec<ColorKey> {
        Vec::new()
    }

    /// The name of a class that has none in the legend.
    fn label(&self, _class: usize) -> Option<String> {
        None
    }
}

/// What has a colour: an allocation, or a reserved range with the stack that reserved it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Colored<'a> {
    Allocation(&'a Timeline, AllocId),
    Reserved(&'a Timeline, &'a ReservedRange, StackId),
}

impl Colored<'_> {
    fn bytes(&self) -> i64 {
        match *self {
            Self::Allocation(timeline, id) => timeline.size(id),
            Self::Reserved(_, range, _) => range.size,
        }
    }

    /// The event that made it, and the number of all events; `None` if it was there before.
    fn event(&self) -> Option<(u32, usize)> {
        let (timeline, moment) = match *self {
            Self::Allocation(timeline, id) => (timeline, timeline.lifetimes.origin(id).event()),
            Self::Reserved(timeline, range, _) => (timeline, range.start.event()),
        };
        moment.map(|event| (event.0, timeline.events.len()))
    }

    fn stack(&self) -> StackId {
        match *self {
            Self::Allocation(timeline, id) => timeline.stack(id),
            Self::Reserved(_, _, stack) => stack,
        }
    }

    fn stream(&self) -> Option<i64> {
        match *self {
            Self::Allocation(timeline, id) => timeline.allocation(id).stream,
            Self::Reserved(_, range, _) => range.stream,
        }
    }

    fn pool(&self) -> Option<PoolKey> {
        match *self {
            Self::Allocation(timeline, id) => timeline.allocation(id).pool,
            Self::Reserved(_, range, _) => range.pool,
        }
    }

    /// A number that only it has.
    fn number(&self) -> u64 {
        match *self {
            Self::Allocation(_, id) => u64::from(id.0),
            Self::Reserved(_, range, _) => range.addr ^ u64::from(range.start.0),
        }
    }
}

#[test]
fn rows_are_in_the_order_of_their_declaration() {
    assert_eq!(KEYS.map(|row| row.by as usize), [0, 1, 2, 3, 4, 5, 6]);
}
