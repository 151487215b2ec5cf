//! Bands, the parts of a stacked picture: at any moment, from the bottom up.

use crate::draw::{Coloring, Rgb};
use crate::model::{AllocId, Moment, Timeline};
use std::ops::Range;

/// The surface of a band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BandTexture {
    /// In use.
    Plain,
    /// Waiting for a stream.
    Striped,
    /// Reserved and not in use.
    Hollow,
}

/// The look of a band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BandFill {
    /// Its colour.
    pub color: Rgb,
    /// Its surface.
    pub texture: BandTexture,
    /// True if the filter leaves it out.
    pub is_faded: bool,
}

/// A source of bands.
pub trait Bands: Sync {
    /// State that is carried along from one moment to a later one, to find the bands there faster.
    type Cursor: Default;

    /// The moment that stands for a range of moments in a column: the first with the highest total. `None`
    /// if the range is empty.
    fn moment_in(&self, moments: Range<usize>) -> Option<Moment>;

    /// Call `visit` with the id and the bytes of every band, from the bottom, until it returns
    /// false. Ids are below `u32::MAX - 1`. Any order of moments is allowed; ascending ones are faster.
    fn visit(&self, cursor: &mut Self::Cursor, moment: Moment, visit: impl FnMut(u32, i64) -> bool);

    /// The look of a band at a moment.
    fn fill(&self, id: u32, moment: Moment) -> BandFill;
}

/// The allocations that a filter keeps, and the treatment of the others.
#[derive(Clone, Copy)]
pub struct BlockFilter<'a> {
    /// True if the filter keeps an allocation.
    pub contains: &'a (dyn Fn(AllocId) -> bool + Sync),
    /// True if only kept allocations are stacked; else the others are faded.
    pub hides_rest: bool,
}

/// Live allocations in allocation order.
#[derive(Clone, Copy)]
pub struct Blocks<'a> {
    /// The timeline of their device.
    pub timeline: &'a Timeline,
    /// Their colours.
    pub coloring: &'a Coloring,
    /// The filter.
    pub filter: Option<BlockFilter<'a>>,
}

/// The allocations that are live at a moment, carried along to later moments. From one column to the next
/// most of them stay, and new ones come at the end.
#[derive(Debug, Default)]
pub struct LiveCursor {
    moment: Option<Moment>,
    /// In allocation order. Some may be gone; see [`LiveCursor::tidy`].
    live: Vec<LiveBand>,
    /// Number of gone allocations that the last visit met.
    gone: usize,
}

/// An allocation, with the columns of it that every visit reads.
#[derive(Debug, Clone, Copy)]
struct LiveBand {
    id: AllocId,
    /// First moment at which it is gone.
    end: Moment,
    size: i64,
}

/// `1 / TIDY_SHARE` of the allocations may be gone before they are dropped: a visit then looks at an eighth
/// more than it needs, and moving the rest is rare.
const TIDY_SHARE: usize = 8;

impl LiveCursor {
    /// Drop the allocations that are gone at a moment once there are many, so that most visits need not move
    /// anything.
    fn tidy(&mut self, moment: Moment) {
        if self.live.len() / TIDY_SHARE <= std::mem::take(&mut self.gone) {
            self.live.retain(|band| moment < band.end);
        }
    }
}

impl Blocks<'_> {
    fn advance(&self, cursor: &mut LiveCursor, moment: Moment) {
        let (timeline, lifetimes) = (self.timeline, &self.timeline.lifetimes);
        let band =
            |id| LiveBand { id, end: lifetimes.end(id).unwrap_or(Moment(u32::MAX)), size: timeline.size(id) };
        let is_stacked =
            |id: &AllocId| self.filter.is_none_or(|filter| !filter.hides_rest || (filter.contains)(*id));
        match cursor.moment.replace(moment) {
            Some(before) if before <= moment => {
                cursor.tidy(moment);
                let new = lifetimes.started_between(before, moment).filter(is_stacked);
                cursor.live.extend(new.map(band).filter(|band| moment < band.end));
            }
            _ => {
                cursor.live.clear();
                cursor.gone = 0;
                cursor.live.extend(lifetimes.live_at(moment).filter(is_stacked).map(band));
            }
        }
    }
}

impl Bands for Blocks<'_> {
    type Cursor = LiveCursor;

    /// The moment with the highest active total, even if a filter hides some allocations: the picture then
    /// shows the same instants as without a filter.
    fn moment_in(&self, moments: Range<usize>) -> Option<Moment> {
        self.timeline.active.peak_in(moments).map(|(moment, _)| moment)
    }

    fn visit(&self, cursor: &mut LiveCursor, moment: Moment, mut visit: impl FnMut(u32, i64) -> bool) {
        self.advance(cursor, moment);
        let LiveCursor { live, gone, .. } = cursor;
        live.iter().all(|band| {
            if moment < band.end {
                return visit(band.id.0, band.size);
            }
            *gone += 1;
            true
        });
    }

    fn fill(&self, id: u32, moment: Moment) -> BandFill {
        let id = AllocId(id);
        let is_awaiting = self.timeline.lifetimes.requested(id).is_some_and(|requested| requested <= moment);
        BandFill {
            color: self.coloring.color(self.timeline, id),
            texture: if is_awaiting { BandTexture::Striped } else { BandTexture::Plain },
            is_faded: self.filter.is_some_and(|filter| !(filter.contains)(id)),
        }
    }
}
