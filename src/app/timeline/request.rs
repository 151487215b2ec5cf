//! Everything that a picture of the timeline depends on.

use crate::analysis::filter::Matches;
use crate::app::device::TimelineMode;
use crate::app::device::filtering::FilterMode;
use crate::app::work::by_ptr::ByPtr;
use crate::draw::{Coloring, View};

/// A picture of the timeline that is wanted.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) struct TimelineRequest {
    pub(in crate::app) view: View,
    pub(in crate::app) size_px: [usize; 2],
    pub(in crate::app) is_dark: bool,
    pub(in crate::app) mode: TimelineMode,
    pub(in crate::app) coloring: ByPtr<Coloring>,
    /// The allocations that the filter lets through, and the treatment of the others.
    pub(in crate::app) filter: Option<(ByPtr<Matches>, FilterMode)>,
}
