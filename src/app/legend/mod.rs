//! The values at the cursor, which are the legend of all colours at the same time.

mod bar;
mod entries;
pub(in crate::app) mod panel;
mod rows;
pub(in crate::app) mod state;
