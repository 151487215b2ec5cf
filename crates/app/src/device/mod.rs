//! One device of an open file, as all panes see it: everything derived from the recording, and the place of
//! the user in it. Knows of panes no more than their names.

pub(crate) mod attributing;
pub(crate) mod derived;
pub(crate) mod diagnosing;
pub(crate) mod figures;
pub(crate) mod filtering;
pub(crate) mod history;
pub(crate) mod outline;
pub(crate) mod pane_ctx;
pub(crate) mod pane_id;
pub(crate) mod place;
mod predicting;
pub(crate) mod stack_labels;
pub(crate) mod standpoint;

pub(crate) use derived::Derived;
pub(crate) use history::Selection;
pub(crate) use outline::Outline;
pub(crate) use pane_ctx::{Pane, PaneCtx};
pub(crate) use pane_id::{PaneId, Wish};
pub(crate) use predicting::{PredictingRequest, PredictingTask};
pub(crate) use standpoint::{Standpoint, TimelineMode};
