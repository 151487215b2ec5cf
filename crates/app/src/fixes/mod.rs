//! The pane *Fixes*: the verdict with its lines of code, and a row for each change, the user's own among them.

mod bar;
mod own;
mod own_controls;
pub(crate) mod panel;
mod rows;
