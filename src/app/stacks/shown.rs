//! What the parts of the panel show in one frame.

use super::weighing::{StacksRequest, Weighed};
use crate::analysis::{Clock, NodeIx, Totals};
use crate::draw::FrameColors;
use crate::model::{Snapshot, StackId};
use crate::units;
use std::sync::Arc;

/// What a search found.
pub(in crate::app) struct Found {
    pub(super) text: String,
    /// By frame.
    pub(in crate::app) marks: Vec<bool>,
    /// How many frames.
    pub(in crate::app) frames: usize,
    /// What they and everything below them weigh, in the last thing that was weighed.
    pub(in crate::app) weight: i128,
    pub(super) of: Option<StacksRequest>,
}

/// Everything that is shown in a frame.
pub(in crate::app) struct Shown<'a> {
    /// What is shown, in a sentence.
    pub(in crate::app) summary: &'a str,
    pub(in crate::app) snapshot: &'a Snapshot,
    pub(in crate::app) weighed: &'a Arc<Weighed>,
    pub(in crate::app) colors: &'a FrameColors,
    pub(in crate::app) found: Option<&'a Found>,
    /// What fills the width of the graph.
    pub(in crate::app) zoom: NodeIx,
    /// The stack of the selection.
    pub(in crate::app) selected: Option<StackId>,
}

/// A share of a whole in percent.
pub(in crate::app) fn share_text(part: i128, whole: i128) -> String {
    // Shares of more than 2^63 are as exact as those of their leading bits.
    let excess = whole.unsigned_abs().checked_ilog2().unwrap_or(0).saturating_sub(62);
    units::percent(units::clamped(part >> excess), units::clamped(whole >> excess))
}

/// A mean lifetime as text, as far as the recording shows.
pub(in crate::app) fn mean_lifetime(clock: Clock, totals: &Totals) -> String {
    let mean = totals.mean_lifetime();
    if clock.has_times() { units::duration_us(mean) } else { units::counted(mean.max(0) as usize, "event") }
}
