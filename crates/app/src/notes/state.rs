//! The state of the notes of a device between frames.

use oomscope_report::notes::{Note, Place};
use std::collections::BTreeMap;

/// The state of the notes of a device.
#[derive(Default)]
pub(crate) struct State {
    /// The note that is being written.
    pub(super) draft: Option<Draft>,
    /// The places of notes in words, by their row, for a revision of the notes.
    words: (u64, BTreeMap<usize, String>),
}

/// A note that is being written.
pub(super) struct Draft {
    pub(super) text: String,
    pub(super) place: Place,
    /// The note that is being changed, if it is not a new one.
    pub(super) old: Option<Note>,
    /// The field is to take the keyboard.
    pub(super) wants_focus: bool,
}

impl State {
    /// Begin a note at a place.
    pub(crate) fn begin(&mut self, place: Place) {
        self.draft = Some(Draft { text: String::new(), place, old: None, wants_focus: true });
    }

    /// Whether a note is being written.
    pub(crate) fn is_writing(&self) -> bool {
        self.draft.is_some()
    }

    /// Drop the note that is being written.
    pub(crate) fn cancel(&mut self) {
        self.draft = None;
    }

    /// Begin to change a note.
    pub(super) fn edit(&mut self, note: &Note) {
        let (text, place) = (note.text.clone(), note.place.clone());
        self.draft = Some(Draft { text, place, old: Some(note.clone()), wants_focus: true });
    }

    /// The place of a row in words. Finding it may take long, so it is found once.
    pub(super) fn words(&mut self, revision: u64, row: usize, find: impl FnOnce() -> String) -> String {
        if self.words.0 != revision {
            self.words = (revision, BTreeMap::new());
        }
        self.words.1.entry(row).or_insert_with(find).clone()
    }
}
