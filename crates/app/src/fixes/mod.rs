//! *Fixes*: what changes to the program would have saved, in the window.

mod bar;
pub(crate) mod panel;
mod predicting;
mod results;
