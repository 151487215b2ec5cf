//! The values at the cursor, which are the legend of all colours at the same time.

mod bar;
mod entries;
pub(crate) mod panel;
mod rows;
mod stack_rows;
pub(crate) mod state;
