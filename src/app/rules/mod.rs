//! Rules that the user makes in the window: what a line of code allocates, kept in a rules file.

mod change;
mod file;
mod text;

pub(in crate::app) use change::{RuleChange, Scope};
pub(in crate::app) use file::{Changed, Places, change, read_rules};
