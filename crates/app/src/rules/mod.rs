//! Rules that the user makes in the window: what a line of code allocates, kept in a rules file.

mod change;
mod file;
mod text;

pub(crate) use change::{RuleChange, Scope};
pub(crate) use file::{Changed, Places, change, read_rules};
