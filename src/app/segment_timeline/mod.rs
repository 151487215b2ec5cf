//! The segment timeline: addresses over time, a row for each segment.

pub(in crate::app) mod input;
pub(in crate::app) mod panel;
pub(in crate::app) mod pictures;
pub(in crate::app) mod state;
pub(in crate::app) mod text;
pub(in crate::app) mod toolbar;
