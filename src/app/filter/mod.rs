//! The filter: its line, and the search behind it.

pub(in crate::app) mod bar;
pub(in crate::app) mod work;
