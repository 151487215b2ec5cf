//! The things that all parts of the panel show in one frame.

use super::weighing::Weighed;
use crate::texts;
use oomscope_analysis::{Clock, NodeIx, Totals};
use oomscope_model::{Bytes, Recording, StackId};
use oomscope_units as units;
use std::rc::Rc;
use std::sync::Arc;

/// The result of a search for frames.
pub(crate) struct Found {
    /// True for each frame that matches.
    pub(crate) marks: Rc<[bool]>,
    /// The number of frames that match.
    pub(crate) frames: usize,
    /// The weight of everything in or below them.
    pub(crate) weight: i128,
}

/// Everything that is shown in a frame.
pub(crate) struct Shown<'a> {
    /// The measure and its total, in a sentence.
    pub(crate) summary: &'a str,
    pub(crate) recording: &'a Recording,
    pub(crate) weighed: &'a Arc<Weighed>,
    pub(crate) found: Option<&'a Found>,
    /// The node that fills the width of the graph.
    pub(crate) zoom: NodeIx,
    /// The nodes of a finding's memory that is outlined, in ascending order.
    pub(crate) outlined: Vec<NodeIx>,
    /// The stack of the selection.
    pub(crate) selected: Option<StackId>,
}

/// A share of a whole in percent.
pub(crate) fn share_text(part: i128, whole: i128) -> String {
    // Bytes multiplied by time exceed 64 bits. Their leading bits give the same share.
    let excess = whole.unsigned_abs().checked_ilog2().unwrap_or(0).saturating_sub(62);
    units::percent(Bytes::clamped(part >> excess), Bytes::clamped(whole >> excess))
}

/// A mean lifetime as text: of allocations with an open end, the part that the recording shows.
pub(crate) fn mean_lifetime(clock: Clock, totals: &Totals) -> String {
    let mean = totals.mean_lifetime();
    if clock.has_times() { units::duration_us(mean) } else { texts::events(mean.max(0) as usize) }
}
