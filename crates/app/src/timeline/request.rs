//! Everything that a picture of the timeline depends on.

use crate::device::filtering::FilterMode;
use crate::device::{Outline, TimelineMode};
use crate::work::by_ptr::ByPtr;
use oomscope_analysis::filter::Matches;
use oomscope_draw::{Coloring, View};

/// Memory that a picture marks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MarkedMemory {
    pub(crate) outline: Outline,
    /// Whether nothing else has the colours that it has: then blocks that are too thin to be seen are told by them.
    pub(crate) fades_rest: bool,
}

/// A picture of the timeline that is wanted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TimelineRequest {
    pub(crate) view: View,
    pub(crate) size_px: [usize; 2],
    /// How many of them are a point.
    pub(crate) px_per_point: f32,
    pub(crate) is_dark: bool,
    pub(crate) mode: TimelineMode,
    pub(crate) coloring: ByPtr<Coloring>,
    /// The memory that is marked; in pictures of reserved memory, nothing is.
    pub(crate) marked: Option<MarkedMemory>,
    /// The allocations that the filter lets through, and the treatment of the others.
    pub(crate) filter: Option<(ByPtr<Matches>, FilterMode)>,
}
