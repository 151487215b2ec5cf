//! The report: the verdict and all other findings of the diagnosis, as cards with links.

pub(in crate::app) mod card;
pub(in crate::app) mod panel;
mod quoting;
