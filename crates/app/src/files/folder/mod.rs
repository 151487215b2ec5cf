//! A folder in a tab: its snapshots with their verdicts.

pub(crate) mod order;
mod outlier_line;
pub(crate) mod page;
pub(crate) mod ranks;
