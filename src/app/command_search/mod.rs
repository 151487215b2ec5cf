//! The search for commands: a list of everything that the window can do, found by typing, each with its key.
//!
//! `commands.rs` is the list, `matching.rs` finds in it, `window.rs` shows it.

mod commands;
mod matching;
mod window;

pub(in crate::app) use commands::{Shown, entries};
pub(in crate::app) use window::State;
