//! What a property that colours show has to say.

use crate::color::color_by::{ColorBy, ColorKey};
use crate::color::palette::{BandColors, Palette, Rgb};
use oomscope_model::{AllocId, Bytes, PoolKey, ReservedRange, StackId, Timeline};
use std::fmt::Debug;
use std::sync::Arc;

/// A property of allocations that colours show.
pub(in crate::color) struct KeyRow {
    pub(in crate::color) by: ColorBy,
    pub(in crate::color) name: &'static str,
    pub(in crate::color) of: fn(&Timeline, &Arc<BandColors>, &Palette) -> Arc<dyn Key>,
}

/// The colours of one property: a class for each value, in the order of the legend.
pub(in crate::color) trait Key: Debug + Send + Sync {
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
pub(in crate::color) enum Colored<'a> {
    Allocation(&'a Timeline, AllocId),
    Reserved(&'a Timeline, &'a ReservedRange, StackId),
}

impl Colored<'_> {
    pub(super) fn bytes(&self) -> Bytes {
        match *self {
            Self::Allocation(timeline, id) => timeline.size(id),
            Self::Reserved(_, range, _) => range.size,
        }
    }

    /// The event that made it, and the number of all events; `None` if it was there before.
    pub(super) fn event(&self) -> Option<(u32, usize)> {
        let (timeline, moment) = match *self {
            Self::Allocation(timeline, id) => (timeline, timeline.lifetimes.origin(id).event()),
            Self::Reserved(timeline, range, _) => (timeline, range.start.event()),
        };
        moment.map(|event| (event.0, timeline.events.len()))
    }

    pub(super) fn stack(&self) -> StackId {
        match *self {
            Self::Allocation(timeline, id) => timeline.stack(id),
            Self::Reserved(_, _, stack) => stack,
        }
    }

    pub(super) fn stream(&self) -> Option<i64> {
        match *self {
            Self::Allocation(timeline, id) => timeline.allocation(id).stream,
            Self::Reserved(_, range, _) => range.stream,
        }
    }

    pub(super) fn pool(&self) -> Option<PoolKey> {
        match *self {
            Self::Allocation(timeline, id) => timeline.allocation(id).pool,
            Self::Reserved(_, range, _) => range.pool,
        }
    }

    /// A number that only it has.
    pub(super) fn number(&self) -> u64 {
        match *self {
            Self::Allocation(_, id) => u64::from(id.0),
            Self::Reserved(_, range, _) => range.addr ^ u64::from(range.start.0),
        }
    }
}
