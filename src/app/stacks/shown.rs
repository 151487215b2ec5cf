//! The things that all parts of the panel show in one frame.

use super::weighing::Weighed;
use crate::analysis::{Clock, NodeIx, Totals};
use crate::model::{Snapshot, StackId, Timeline};
use crate::units;
use std::rc::Rc;
use std::sync::Arc;

/// The result of a search for frames.
pub(in crate::app) struct Found {
    /// True for each frame that matches.
    pub(in crate::app) marks: Rc<[bool]>,
    /// The number of frames that match.
    pub(in crate::app) frames: usize,
    /// The weight of everything in or below them.
    pub(in crate::app) weight: i128,
}

/// Everything that is shown in a frame.
pub(in crate::app) struct Shown<'a> {
    /// The measure and its total, in a sentence.
    pub(in crate::app) summary: &'a str,
    pub(in crate::app) snapshot: &'a Snapshot,
    pub(in crate::app) timeline: &'a Timeline,
    pub(in crate::app) weighed: &'a Arc<Weighed>,
    pub(in crate::app) found: Option<&'a Found>,
    /// The node that fills the width of the graph.
    pub(in crate::app) zoom: NodeIx,
    /// The nodes of a finding's memory that is outlined, in ascending order.
    pub(in crate::app) outlined: Vec<NodeIx>,
    /// The stack of the selection.
    pub(in crate::app) selected: Option<StackId>,
}

/// A share of a whole in percent.
pub(in crate::app) fn share_text(part: i128, whole: i128) -> String {
    // Bytes multiplied by time exceed 64 bits. Their leading bits give the same share.
    let excess = whole.unsigned_abs().checked_ilog2().unwrap_or(0).saturating_sub(62);
    units::percent(units::clamped(part >> excess), units::clamped(whole >> excess))
}

/// A mean lifetime as text: of allocations with an open end, the part that the recording shows.
pub(in crate::app) fn mean_lifetime(clock: Clock, totals: &Totals) -> String {
    let mean = totals.mean_lifetime();
    if clock.has_times() { units::duration_us(mean) } else { units::counted(mean.max(0) as usize, "event") }
}
