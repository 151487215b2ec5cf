//! Bands, the parts of a stacked picture: at any moment, from the bottom up.

use crate::draw::{Coloring, Rgb};
use crate::model::{AllocId, Moment, Timeline};
use std::ops::Range;

/// The surface of a band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texture {
    /// In use.
    Plain,
    /// Waiting for a stream.
    Striped,
    /// Reserved and not in use.
    Hollow,
}

/// The look of a band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fill {
    /// Its colour.
    pub color: Rgb,
    /// Its surface.
    pub texture: Texture,
    /// True if the filter leaves it out.
    pub is_faded: bool,
}

/// A source of bands.
pub trait Bands: Sync {
    /// State that is carried along from one moment to a later one, to find the bands there faster.
    type Walk: Default;

    /// The moment that stands for a range of moments in a column: the first with the highest total. `None`
    /// if the range is empty.
    fn moment_in(&self, moments: Range<usize>) -> Option<Moment>;

    /// Call `visit` with the id and the bytes of every band, from the bottom, until it returns
    /// false. Ids are below `u32::MAX - 1`. Any order of moments is allowed; ascending ones are faster.
    fn visit(&self, walk: &mut Self::Walk, moment: Moment, visit: impl FnMut(u32, i64) -> bool);

    /// The look of a band at a moment.
    fn fill(&self, id: u32, moment: Moment) -> Fill;
}

/// The allocations that a filter keeps, and the treatment of the others.
#[derive(Clone, Copy)]
pub struct Kept<'a> {
    /// True if the filter keeps an allocation.
    pub contains: &'a (dyn Fn(AllocId) -> bool + Sync),
    /// True if only kept allocations are stacked; else the others are faded.
    pub is_alone: bool,
}

/// Live allocations in allocation order.
#[derive(Clone, Copy)]
pub struct Blocks<'a> {
    /// The timeline of their device.
    pub timeline: &'a Timeline,
    /// Their colours.
    pub coloring: &'a Coloring,
    /// The filter.
    pub kept: Option<Kept<'a>>,
}

/// The allocations that are live at a moment, carried along to later moments. From one column to the next
/// most of them stay, and new ones come at the end.
#[derive(Debug, Default)]
pub struct LiveWalk {
    moment: Option<Moment>,
    /// In allocation order. Some may be gone; see [`LiveWalk::tidy`].
    live: Vec<Walker>,
    /// Number of gone allocations that the last visit met.
    gone: usize,
}

/// An allocation, with the columns of it that every visit reads.
#[derive(Debug, Clone, Copy)]
struct Walker {
    id: AllocId,
    /// First moment at which it is gone.
    end: Moment,
    size: i64,
}

/// `1 / TIDY_SHARE` of the allocations may be gone before they are dropped: a visit then looks at an eighth
/// more than it needs, and moving the rest is rare.
const TIDY_SHARE: usize = 8;

impl LiveWalk {
    /// Drop the allocations that are gone at a moment once there are many, so that most visits need not move
    /// anything.
    fn tidy(&mut self, moment: Moment) {
        if self.live.len() / TIDY_SHARE <= std::mem::take(&mut self.gone) {
            self.live.retain(|walker| moment < walker.end);
        }
    }
}

impl Blocks<'_> {
    fn walk_to(&self, walk: &mut LiveWalk, moment: Moment) {
        let Timeline { lifetimes, events, .. } = self.timeline;
        let walker = |id| Walker {
            id,
            end: lifetimes.end(id).unwrap_or(Moment(u32::MAX)),
            size: lifetimes.size(id, events),
        };
        let is_stacked = |id: &AllocId| self.kept.is_none_or(|kept| !kept.is_alone || (kept.contains)(*id));
        match walk.moment.replace(moment) {
            Some(before) if before <= moment => {
                walk.tidy(moment);
                let new = lifetimes.started_between(before, moment).filter(is_stacked);
                walk.live.extend(new.map(walker).filter(|walker| moment < walker.end));
            }
            _ => {
                walk.live.clear();
                walk.gone = 0;
                walk.live.extend(lifetimes.live_at(moment).filter(is_stacked).map(walker));
            }
        }
    }
}

impl Bands for Blocks<'_> {
    type Walk = LiveWalk;

    /// The moment with the highest active total, even if a filter hides some allocations: the picture then
    /// shows the same instants as without a filter.
    fn moment_in(&self, moments: Range<usize>) -> Option<Moment> {
        self.timeline.active.peak_in(moments).map(|(moment, _)| moment)
    }

    fn visit(&self, walk: &mut LiveWalk, moment: Moment, mut visit: impl FnMut(u32, i64) -> bool) {
        self.walk_to(walk, moment);
        let LiveWalk { live, gone, .. } = walk;
        live.iter().all(|walker| {
            if moment < walker.end {
                return visit(walker.id.0, walker.size);
            }
            *gone += 1;
            true
        });
    }

    fn fill(&self, id: u32, moment: Moment) -> Fill {
        let id = AllocId(id);
        let is_awaiting = self.timeline.lifetimes.requested(id).is_some_and(|requested| requested <= moment);
        Fill {
            color: self.coloring.color(self.timeline, id),
            texture: if is_awaiting { Texture::Striped } else { Texture::Plain },
            is_faded: self.kept.is_some_and(|kept| !(kept.contains)(id)),
        }
    }
}
