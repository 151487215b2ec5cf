//! What the stacked picture is made of: bands, from the bottom up, at any moment.

use super::{Coloring, Rgb};
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
    /// The moment that a column shows for a range of moments: the first of its highest total.
    fn moment_in(&self, moments: Range<usize>) -> Option<Moment>;

    /// Call `visit` with the id and the bytes of every band, from the bottom, until it returns
    /// false. Ids are below `u32::MAX - 1`.
    fn visit(&self, moment: Moment, visit: impl FnMut(u32, i64) -> bool);

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

impl Blocks<'_> {
    fn is_stacked(&self, id: AllocId) -> bool {
        self.kept.is_none_or(|kept| !kept.is_alone || (kept.contains)(id))
    }
}

impl Bands for Blocks<'_> {
    /// The highest active total, also while only some are stacked: the picture then shows the same
    /// instants as without a filter.
    fn moment_in(&self, moments: Range<usize>) -> Option<Moment> {
        self.timeline.active.peak_in(moments).map(|(moment, _)| moment)
    }

    fn visit(&self, moment: Moment, mut visit: impl FnMut(u32, i64) -> bool) {
        let Timeline { lifetimes, events, .. } = self.timeline;
        let live = lifetimes.live_at(moment);
        match self.kept.filter(|kept| kept.is_alone) {
            None => live.map(|id| (id, lifetimes.size(id, events))).all(|(id, size)| visit(id.0, size)),
            Some(_) => {
                live.filter(|&id| self.is_stacked(id)).all(|id| visit(id.0, lifetimes.size(id, events)))
            }
        };
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
