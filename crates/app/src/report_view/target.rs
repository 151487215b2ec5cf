//! The places that a click in the report leads to.

use crate::device::PaneId;
use oomscope_model::{AllocId, EventIx, StackId};

/// A place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// The moment that the report is about.
    Moment,
    Event(EventIx),
    Stack(StackId),
    Allocation(AllocId),
    /// The memory of the finding, outlined in all views.
    Outline,
    /// A pane that tells more.
    Pane(PaneId),
}
