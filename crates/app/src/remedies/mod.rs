//! *Fixes*: what changes to the program would have saved, in the window.

pub(crate) mod panel;
mod predicting;
mod results;
