//! Another recording, or another moment, beside the one that is shown.

mod aligning;
mod computing;
mod curves;
pub(crate) mod flame;
pub(crate) mod others;
pub(crate) mod panel;
mod sides;
mod table;
mod ways;
