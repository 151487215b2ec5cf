//! What the stacked picture is made of: bands, from the bottom up, at any moment.

use crate::draw::{Coloring, Rgb};
use crate::model::{AllocId, Moment, Timeline};
use std::ops::Range;

/// How the surface of a band looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texture {
    /// In use.
    Plain,
    /// Waiting for a stream.
    Striped,
    /// Reserved and not in use.
    Hollow,
}

/// How a band looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fill {
    /// Its colour.
    pub color: Rgb,
    /// Its surface.
    pub texture: Texture,
    /// Whether the filter leaves it out.
    pub is_faded: bool,
}

/// A source of bands.
pub trait Bands: Sync {
    /// What is kept from one moment to the next, later one, to find the bands there faster.
    type Walk: Default;

    /// The moment that a column shows for a range of moments: the first of its highest total.
    fn moment_in(&self, moments: Range<usize>) -> Option<Moment>;

    /// Call `visit` with the id and the bytes of every band, from the bottom, until it returns
    /// false. Ids are below `u32::MAX - 1`.
    fn visit(&self, walk: &mut Self::Walk, moment: Moment, visit: impl FnMut(u32, i64) -> bool);

    /// How a band looks.
    fn fill(&self, id: u32, moment: Moment) -> Fill;
}

/// Which allocations a filter keeps, and what happens to the rest.
#[derive(Clone, Copy)]
pub struct Kept<'a> {
    /// Whether the filter keeps an allocation.
    pub contains: &'a (dyn Fn(AllocId) -> bool + Sync),
    /// Whether only what is kept is stacked; else the rest is faded.
    pub is_alone: bool,
}

/// Live allocations in allocation order.
#[derive(Clone, Copy)]
pub struct Blocks<'a> {
    /// Of which device.
    pub timeline: &'a Timeline,
    /// Their colours.
    pub coloring: &'a Coloring,
    /// The filter.
    pub kept: Option<Kept<'a>>,
}

/// The allocations that are live at a moment, carried along to later ones: most stay, the new ones
/// come at the end.
#[derive(Debug, Default)]
pub struct LiveWalk {
    moment: Option<Moment>,
    /// Also some that are gone; see [`LiveWalk::tidy`].
    live: Vec<Walker>,
    /// How many that are gone the last visit met.
    gone: usize,
}

/// An allocation on the way.
#[derive(Debug, Clone, Copy)]
struct Walker {
    id: AllocId,
    /// First moment at which it is gone.
    end: Moment,
    size: i64,
}

/// Of so many allocations, one may be gone before all are looked through for them.
const TIDY_SHARE: usize = 8;

impl LiveWalk {
    /// Drop those that are gone once they are many, so that most visits need not move anything.
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

    /// The highest active total, also while only some are stacked: the picture then shows the same
    /// instants as without a filter.
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
