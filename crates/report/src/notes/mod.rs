//! Places in a recording, and notes about them, as text.
//!
//! A [`Place`] is where a user is: a moment, a range of the timeline, a selection, a filter and colours. Written in
//! one line, it is a link (`oomscope FILE --go "…"`) and the place of a [`Note`]. Notes are kept as TOML beside the
//! recording. Both are read as a stranger's text: what is not understood is reported, and nothing is lost by it.
//!
//! This module reads and writes text alone. Files are the business of `load`, `cli` and `app`.

mod file;
mod lexer;
mod link;
mod merge;
mod place;
mod place_text;
mod resolve;

#[cfg(test)]
mod tests;

pub use file::{MAX_FILE_BYTES, MAX_NOTES, Note, NotesFile, note_text, read_notes, written_notes};
pub use link::command_line;
pub use merge::merged;
pub use place::{BlockRef, Place, PlaceMoment, PlaceRange, Selected};
pub use place_text::{PlaceError, PlaceProblem};
pub use resolve::{Found, Resolver};
