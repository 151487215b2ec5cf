//! The marked range: its figures, and its memory by category and by line of code.

mod computing;
pub(crate) mod panel;
mod table;
