//! Bands, the parts of a stacked picture: at any moment, from the bottom up.

use crate::{ColorClass, Coloring, Rgb};
use oomscope_model::{AllocId, Bytes, Moment, Timeline};
use std::ops::Range;

/// The id of pixels that show nothing.
pub(super) const NONE: u32 = u32::MAX;

/// Ids of shares count down from here.
const FIRST_SHARE_ID: u32 = NONE - 1;

/// Most shares that a picture can have; a class has two, of what the filter keeps and of the rest.
const MAX_SHARES: u32 = 128;

/// Ids of other bands are below.
pub(super) const BANDS_END: u32 = NONE - MAX_SHARES;

/// The end of bands that survive the recording.
pub(super) const NEVER: Moment = Moment(u32::MAX);

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

impl BandTexture {
    /// Rows from one line of a surface to the next.
    pub const LINE_EVERY: usize = 3;

    /// The share of the ground in the surface and in its lines; `None` if it has no lines.
    pub fn lined(self) -> Option<[f32; 2]> {
        match self {
            Self::Plain => None,
            Self::Striped => Some([0.65, 0.15]),
            Self::Hollow => Some([0.86, 0.72]),
        }
    }
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

/// Bands that have one colour in the legend, and that the filter treats alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Share {
    /// The class of their colour.
    pub class: ColorClass,
    /// True if the filter leaves them out.
    pub is_faded: bool,
}

impl Share {
    /// Its place among all shares: in the order of the legend, and first what the filter keeps.
    pub(super) fn index(self) -> usize {
        2 * usize::from(self.class.0) + usize::from(self.is_faded)
    }

    /// The share at a place.
    pub(super) fn at(index: usize) -> Self {
        debug_assert!(index < MAX_SHARES as usize);
        Self { class: ColorClass((index / 2) as u8), is_faded: !index.is_multiple_of(2) }
    }

    /// The id of its pixels.
    pub(super) fn id(self) -> u32 {
        FIRST_SHARE_ID - self.index() as u32
    }

    /// The share of pixels with an id; `None` for other ids.
    pub(super) fn of_id(id: u32) -> Option<Self> {
        (BANDS_END..=FIRST_SHARE_ID).contains(&id).then(|| Self::at((FIRST_SHARE_ID - id) as usize))
    }
}

/// A part of the stack, from its first moment to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Band {
    /// Its id.
    pub id: u32,
    /// Its height.
    pub bytes: Bytes,
    /// First moment.
    pub start: Moment,
    /// First moment at which it is gone; `u32::MAX` if it survives.
    pub end: Moment,
    /// The group that it belongs to.
    pub group: usize,
    /// The share that it is part of where it has too little room of its own.
    pub share: Share,
}

/// A source of bands.
///
/// Groups lie above each other; within a group, bands lie in the order in which they began.
pub trait Bands: Sync {
    /// The moment that stands for a range of moments in a column: the first with the highest total. `None`
    /// if the range is empty.
    fn moment_in(&self, moments: Range<usize>) -> Option<Moment>;

    /// The total at a moment, by which [`Self::moment_in`] chooses.
    fn total(&self, moment: Moment) -> Bytes;

    /// The smallest total of a range of moments; 0 if the range is empty.
    fn least_in(&self, moments: Range<usize>) -> Bytes;

    /// Call `add` with every band that is there at a moment, or only with those that began after
    /// `after`, in their order.
    fn begun(&self, after: Option<Moment>, moment: Moment, add: impl FnMut(Band));

    /// Number of groups.
    fn groups(&self) -> usize {
        1
    }

    /// What lies above the bands of a group, as an id and bytes. `bytes` is the height of its bands.
    fn above(&self, _group: usize, _moment: Moment, _bytes: Bytes) -> Option<(u32, Bytes)> {
        None
    }

    /// The look of a band at a moment.
    fn fill(&self, id: u32, moment: Moment) -> BandFill;

    /// Number of classes that bands belong to.
    fn classes(&self) -> usize;

    /// The colour of a class.
    fn class_color(&self, class: ColorClass) -> Rgb;
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

impl Blocks<'_> {
    /// True if the filter leaves an allocation out.
    fn is_faded(&self, id: AllocId) -> bool {
        self.filter.is_some_and(|filter| !(filter.contains)(id))
    }

    /// The share that an allocation is part of where it has too little room of its own.
    pub fn share(&self, id: AllocId) -> Share {
        Share { class: self.coloring.class_of(self.timeline, id), is_faded: self.is_faded(id) }
    }
}

impl Bands for Blocks<'_> {
    /// The moment with the highest active total, even if a filter hides some allocations: the picture then
    /// shows the same instants as without a filter.
    fn moment_in(&self, moments: Range<usize>) -> Option<Moment> {
        self.timeline.active.peak_in(moments).map(|(moment, _)| moment)
    }

    fn total(&self, moment: Moment) -> Bytes {
        self.timeline.active.at(moment)
    }

    fn least_in(&self, moments: Range<usize>) -> Bytes {
        self.timeline.active.min_in(moments).unwrap_or_default()
    }

    fn begun(&self, after: Option<Moment>, moment: Moment, mut add: impl FnMut(Band)) {
        let lifetimes = &self.timeline.lifetimes;
        let hides_rest = self.filter.is_some_and(|filter| filter.hides_rest);
        let mut add = |id: AllocId, end: Moment| {
            if hides_rest && self.is_faded(id) {
                return;
            }
            let (bytes, start) = (self.timeline.size(id), lifetimes.start(id));
            add(Band { id: id.0, bytes, start, end, group: 0, share: self.share(id) });
        };
        let end = |id| lifetimes.end(id).unwrap_or(NEVER);
        match after {
            None => lifetimes.live_at(moment).for_each(|id| add(id, end(id))),
            Some(after) => {
                let new = lifetimes.started_between(after, moment).map(|id| (id, end(id)));
                new.filter(|&(_, end)| moment < end).for_each(|(id, end)| add(id, end));
            }
        }
    }

    fn fill(&self, id: u32, moment: Moment) -> BandFill {
        let id = AllocId(id);
        let is_awaiting = self.timeline.lifetimes.requested(id).is_some_and(|requested| requested <= moment);
        BandFill {
            color: self.coloring.color(self.timeline, id),
            texture: if is_awaiting { BandTexture::Striped } else { BandTexture::Plain },
            is_faded: self.is_faded(id),
        }
    }

    fn classes(&self) -> usize {
        self.coloring.class_count()
    }

    fn class_color(&self, class: ColorClass) -> Rgb {
        self.coloring.class_color(class)
    }
}
