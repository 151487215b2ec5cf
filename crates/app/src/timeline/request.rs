//! Everything that a picture of the timeline depends on.

use crate::device::TimelineMode;
use crate::device::filtering::FilterMode;
use crate::work::by_ptr::ByPtr;
use oomscope_analysis::filter::Matches;
use oomscope_draw::{Coloring, View};

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
    /// The allocations that the filter lets through, and the treatment of the others.
    pub(crate) filter: Option<(ByPtr<Matches>, FilterMode)>,
}
