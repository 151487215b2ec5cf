//! A folder in a tab: its snapshots with their verdicts.

pub(in crate::app) mod order;
pub(in crate::app) mod page;
pub(in crate::app) mod ranks;
