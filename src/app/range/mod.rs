//! The marked range: its figures, and its memory by category and by line of code.

mod computing;
pub(in crate::app) mod panel;
mod table;
