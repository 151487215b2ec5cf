//! What a file opens with: the fixes, and the view that its verdict calls for.

use crate::device::PaneId;
use oomscope_diagnosis::FindingId;

/// The tab of the tray that shows what a verdict says, by the verdict's kind. Others leave the segment map in front, which is
/// to scale, with the failed request above it.
const VIEWS: [(FindingId, PaneId); 3] = [
    // The holes, and what lies between them.
    (FindingId::Fragmentation, PaneId::Segments),
    // What every iteration left behind.
    (FindingId::Leak, PaneId::Iterations),
    // The lines of code that fill the memory.
    (FindingId::Capacity, PaneId::Stacks),
];

/// The view for a verdict. Without a history, there are no iterations.
pub(super) fn view(verdict: FindingId, has_history: bool) -> PaneId {
    match VIEWS.iter().find(|(id, _)| *id == verdict) {
        Some((_, PaneId::Iterations)) if !has_history => PaneId::Stacks,
        Some(&(_, pane)) => pane,
        None => PaneId::Segments,
    }
}

/// How far the panes have been brought to the front.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Opening {
    /// Not at all.
    New,
    /// These are in front, and the verdict is not known yet.
    Waits(Vec<PaneId>),
    /// They were, or the file opened with another device.
    #[default]
    Done,
}
