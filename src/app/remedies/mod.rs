//! *Fixes*: what changes to the program would have saved, in the window.

pub(in crate::app) mod panel;
mod predicting;
mod results;
