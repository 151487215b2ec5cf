//! The report: the verdict as a card, all other findings of the diagnosis folded below it, with links.

mod card;
pub(crate) mod panel;
mod parts;
pub(crate) mod target;

pub(crate) use parts::fold_ui;
