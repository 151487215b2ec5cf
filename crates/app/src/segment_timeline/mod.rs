//! The segment timeline: addresses over time, a row for each segment.

pub(crate) mod input;
pub(crate) mod panel;
pub(crate) mod pictures;
pub(crate) mod state;
pub(crate) mod text;
pub(crate) mod toolbar;
