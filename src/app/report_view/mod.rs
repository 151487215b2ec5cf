//! The report: the verdict, and everything else that the diagnosis found, as cards with links.

pub(in crate::app) mod card;
pub(in crate::app) mod panel;
