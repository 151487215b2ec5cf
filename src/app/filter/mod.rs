//! The filter: its line, its completion, and the search behind it.

pub(in crate::app) mod bar;
pub(in crate::app) mod popup;
