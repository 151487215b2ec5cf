//! The pane *What if*: the recording under other allocator settings, beside the recorded outcome.

pub(crate) mod controls;
pub(crate) mod map;
pub(crate) mod panel;
pub(crate) mod results;
pub(crate) mod simulating;
