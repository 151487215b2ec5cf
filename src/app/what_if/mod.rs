//! The pane *What if*: the recording under other allocator settings, beside the recorded outcome.

pub(in crate::app) mod controls;
pub(in crate::app) mod map;
pub(in crate::app) mod panel;
pub(in crate::app) mod results;
pub(in crate::app) mod simulating;
