//! Another recording, or another moment, beside the one that is shown.

mod computing;
mod curves;
pub(in crate::app) mod others;
pub(in crate::app) mod panel;
mod sides;
mod table;
