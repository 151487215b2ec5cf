//! Notes in the window: the field that they are written in, the pane that lists them, and flags on the timeline.

pub(in crate::app) mod field;
pub(in crate::app) mod flags;
pub(in crate::app) mod panel;
pub(in crate::app) mod state;
