//! What a file opens with: the report, and the view that its verdict calls for.

use super::pane::Pane;
use oomscope_diagnosis::FindingId;

/// The tab of the tray that shows what a verdict says, by the verdict's kind. Others leave the segment map in front, which is
/// to scale, with the failed request above it.
const VIEWS: [(FindingId, Pane); 3] = [
    // The holes, and what lies between them.
    (FindingId::Fragmentation, Pane::Segments),
    // What every iteration left behind.
    (FindingId::Leak, Pane::Iterations),
    // The lines of code that fill the memory.
    (FindingId::Capacity, Pane::Stacks),
];

/// The view for a verdict. Without a history, there are no iterations.
pub(super) fn view(verdict: FindingId, has_history: bool) -> Pane {
    match VIEWS.iter().find(|(id, _)| *id == verdict) {
        Some((_, Pane::Iterations)) if !has_history => Pane::Stacks,
        Some(&(_, pane)) => pane,
        None => Pane::Segments,
    }
}

/// How far the panes have been brought to the front.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Opening {
    /// Not at all.
    New,
    /// These are in front, and the verdict is not known yet.
    Waits(Vec<Pane>),
    /// They were, or the file opened with another device.
    #[default]
    Done,
}
