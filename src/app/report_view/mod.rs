//! The report: the verdict as a card, all other findings of the diagnosis folded below it, with links.

mod card;
pub(in crate::app) mod panel;
mod parts;
pub(in crate::app) mod target;
