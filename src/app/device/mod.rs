//! One device of an open file, as all panes see it: everything derived from the recording, and the place of
//! the user in it. Knows no pane.

pub(in crate::app) mod attributing;
pub(in crate::app) mod curves;
pub(in crate::app) mod derived;
pub(in crate::app) mod diagnosing;
pub(in crate::app) mod figures;
pub(in crate::app) mod filtering;
pub(in crate::app) mod history;
pub(in crate::app) mod outline;
pub(in crate::app) mod pane_ctx;
pub(in crate::app) mod place;
mod predicting;
pub(in crate::app) mod site_labels;
pub(in crate::app) mod standpoint;

pub(in crate::app) use derived::Derived;
pub(in crate::app) use history::Selection;
pub(in crate::app) use outline::Outline;
pub(in crate::app) use pane_ctx::PaneCtx;
pub(in crate::app) use standpoint::{Standpoint, TimelineMode};
