//! The file of notes beside a recording.
//!
//! ```toml
//! format = "oomscope-notes"
//! version = 1
//!
//! [[note]]
//! text = "why is this still here?"
//! place = "event=2528 select=alloc:1234"
//! ```
//!
//! It may come from a stranger or from another version. All that can be read is shown. A file that holds more than this
//! version can write again says why ([`NotesFile::kept`]), and must not be replaced.

use super::place::Place;
use oomscope_units as units;
use std::fmt::Write as _;
use thiserror::Error;
use toml::{Table, Value};

/// The largest file that is read or written, in bytes: a thousand notes of a page each.
pub const MAX_FILE_BYTES: usize = 1 << 20;

/// The most notes of a file: more than anyone scrolls through.
pub const MAX_NOTES: usize = 1000;

/// The longest note, in characters: half a page.
const MAX_TEXT_CHARS: usize = 2000;

/// What the file says it is, so that no other TOML is taken for notes and replaced.
const FORMAT: &str = "oomscope-notes";

/// The version that is read and written.
const VERSION: i64 = 1;

/// A note.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Note {
    /// One line of text.
    pub text: String,
    /// Where it was made.
    pub place: Place,
}

/// Notes that were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotesFile {
    /// All that could be read.
    pub notes: Vec<Note>,
    /// Why the file must stay as it is.
    pub kept: Option<KeptReason>,
}

/// Why a file of notes is not replaced: something in it would be lost.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KeptReason {
    /// It is larger than [`MAX_FILE_BYTES`].
    #[error("it is larger than 1 MiB")]
    TooLarge,
    /// It is no TOML.
    #[error("it cannot be read: {0}")]
    Broken(String),
    /// It is TOML, but no file of notes.
    #[error("it has no line format = \"{FORMAT}\"")]
    NoNotes,
    /// It was written by a later version.
    #[error("it was written by a later version of oomscope")]
    Later,
    /// It has more than [`MAX_NOTES`] notes.
    #[error("it has more than {} notes", units::count(MAX_NOTES as u64))]
    TooMany,
    /// It has a key that this version does not know.
    #[error("it has '{0}', which this version of oomscope does not know")]
    UnknownKey(String),
    /// A note that cannot be written again as it is.
    #[error("note {number} cannot be kept as it is: {problem}")]
    OddNote {
        /// Which note, from 1.
        number: usize,
        /// What is odd about it.
        problem: String,
    },
}

/// A text as a note has it: one line, without control characters, of limited length.
pub fn note_text(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    units::printable_whole(&line).chars().take(MAX_TEXT_CHARS).collect()
}

/// Read the text of a file.
pub fn read_notes(text: &str) -> NotesFile {
    let kept = |reason| NotesFile { notes: Vec::new(), kept: Some(reason) };
    if MAX_FILE_BYTES < text.len() {
        return kept(KeptReason::TooLarge);
    }
    let table: Table = match toml::from_str(text) {
        Ok(table) => table,
        Err(error) => return kept(KeptReason::Broken(first_line(&error.to_string()))),
    };
    if table.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return kept(KeptReason::NoNotes);
    }
    let mut out = NotesFile::default();
    match table.get("version").and_then(Value::as_integer) {
        Some(VERSION) => {}
        Some(later) if VERSION < later => out.keep(KeptReason::Later),
        _ => return kept(KeptReason::Broken("its version is missing".to_owned())),
    }
    out.take(&table);
    out
}

fn first_line(text: &str) -> String {
    units::printable(text.lines().next().unwrap_or_default())
}

impl NotesFile {
    /// A file that is there and cannot be read.
    pub fn unreadable(why: &str) -> Self {
        Self { notes: Vec::new(), kept: Some(KeptReason::Broken(units::printable(why))) }
    }

    /// The first reason counts.
    fn keep(&mut self, reason: KeptReason) {
        self.kept.get_or_insert(reason);
    }

    fn take(&mut self, table: &Table) {
        self.keep_unknown(table, &["format", "version", "recording", "note"]);
        let rows = match table.get("note") {
            None => return,
            Some(Value::Array(rows)) => rows,
            Some(_) => return self.keep(KeptReason::UnknownKey("note".to_owned())),
        };
        if MAX_NOTES < rows.len() {
            self.keep(KeptReason::TooMany);
        }
        for (row, number) in rows.iter().take(MAX_NOTES).zip(1..) {
            match row.as_table() {
                Some(row) => self.take_note(row, number),
                None => self.keep_odd(number, "it is no table".to_owned()),
            }
        }
    }

    fn take_note(&mut self, row: &Table, number: usize) {
        self.keep_unknown(row, &["text", "place"]);
        let string = |key| row.get(key).and_then(Value::as_str);
        let (text, place) = (string("text").unwrap_or_default(), string("place").unwrap_or_default());
        let cleaned = note_text(text);
        if cleaned != text || (cleaned.is_empty() && row.contains_key("text")) {
            self.keep_odd(number, "its text is no single line of plain text".to_owned());
        }
        let place = place.parse::<Place>().unwrap_or_else(|error| {
            self.keep_odd(number, error.to_string());
            Place::default()
        });
        self.notes.push(Note { text: cleaned, place });
    }

    fn keep_unknown(&mut self, table: &Table, known: &[&str]) {
        if let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) {
            self.keep(KeptReason::UnknownKey(units::printable(key).chars().take(40).collect()));
        }
    }

    fn keep_odd(&mut self, number: usize, problem: String) {
        self.keep(KeptReason::OddNote { number, problem });
    }
}

/// The text of a file about a recording; `None` if that would be larger than what is read.
pub fn written_notes(recording: &str, notes: &[Note]) -> Option<String> {
    let mut out = String::from("# Notes about a recording, kept by oomscope. Comments are not kept.\n");
    // Writing to a string never fails.
    let mut line = |key: &str, value: &str| writeln!(out, "{key} = {}", toml_string(value)).ok();
    line("format", FORMAT);
    line("recording", &units::printable(recording));
    writeln!(out, "version = {VERSION}").ok();
    for note in notes {
        writeln!(out, "\n[[note]]\ntext = {}", toml_string(&note.text)).ok();
        writeln!(out, "place = {}", toml_string(&note.place.to_string())).ok();
    }
    (out.len() <= MAX_FILE_BYTES && notes.len() <= MAX_NOTES).then_some(out)
}

/// A basic string of TOML. The texts have no control characters.
fn toml_string(text: &str) -> String {
    units::quoted(&units::printable_whole(text))
}
