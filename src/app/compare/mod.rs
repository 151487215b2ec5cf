//! Another recording, or another moment, beside the one that is shown.

mod aligning;
mod computing;
mod curves;
pub(in crate::app) mod flame;
pub(in crate::app) mod others;
pub(in crate::app) mod panel;
mod sides;
mod table;
mod ways;
