//! The search for commands: a list of everything that the window can do, found by typing, each with its key.
//!
//! `commands.rs` is the list, `matching.rs` finds in it, `window.rs` shows it.

mod commands;
mod matching;
mod window;

pub(crate) use commands::{Shown, entries};
pub(crate) use window::State;
