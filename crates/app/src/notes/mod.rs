//! Notes in the window: the field that they are written in, the pane that lists them, and flags on the timeline.

pub(crate) mod field;
pub(crate) mod flags;
pub(crate) mod panel;
pub(crate) mod state;
