//! Reads and writes the notes about one recording: beside it or, where that folder cannot be written, in the settings
//! folder.

use crate::paths::own_name;
use oomscope_export::save::{Existing, NewFile, SaveError};
use oomscope_report::notes::{MAX_FILE_BYTES, MAX_NOTES, Note, NotesFile, merged, read_notes, written_notes};
use oomscope_snapshot::load::{NOTES_SUFFIX, notes_beside, other_notes_beside, read_text};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use tr::tr;

/// The folder for notes within the settings folder.
const FOLDER: &str = "notes";

/// Where the notes of a recording are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// Nowhere yet: there are none, or they are being read.
    NotYet,
    /// In a file beside the recording.
    Beside(PathBuf),
    /// In the settings folder, since the recording's folder cannot be written.
    InSettings {
        /// The file.
        path: PathBuf,
        /// Why they are not beside the recording.
        why: String,
    },
    /// In this window alone.
    Unsaved {
        /// The reason, as a sentence without its end.
        why: String,
        /// Whether another name would help.
        can_rename: bool,
    },
}

/// Something to do.
#[derive(Debug)]
pub(super) enum Job {
    Read,
    /// Write the notes of the window, which began with those of `base`.
    Write {
        base: Vec<Note>,
        mine: Vec<Note>,
        under_another_name: bool,
    },
}

/// What was done.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The notes that the window had.
    pub(super) mine: Vec<Note>,
    /// Those that are there now, with changes by others.
    pub(super) notes: Vec<Note>,
    /// Those that are on the disk.
    pub(super) stored: Vec<Note>,
    pub(super) keeping: Keeping,
    pub(super) is_write: bool,
}

/// Keeps the notes of one recording.
pub(super) struct Keeper {
    recording: PathBuf,
    beside: PathBuf,
    in_settings: Option<PathBuf>,
}

/// The notes of both files as they are now.
struct Stored {
    notes: Vec<Note>,
    keeping: Keeping,
    /// Whether there are files, and all of them could be read.
    is_whole: bool,
    /// Why the file beside the recording must stay as it is.
    kept_beside: Option<String>,
    kept_in_settings: Option<String>,
}

impl Keeper {
    pub(super) fn new(recording: &Path, settings: Option<&Path>) -> Self {
        let recording = std::path::absolute(recording).unwrap_or_else(|_| recording.to_owned());
        Self {
            beside: notes_beside(&recording),
            in_settings: settings.map(|folder| folder.join(FOLDER).join(key(&recording))),
            recording,
        }
    }

    pub(super) fn run(&mut self, job: Job) -> Outcome {
        match job {
            Job::Read => {
                let first = self.stored();
                // Notes that were saved under another name are there again.
                let stored = if first.kept_beside.is_some() && self.other().is_file() {
                    self.beside = self.other();
                    self.stored()
                } else {
                    first
                };
                let notes = stored.notes.clone();
                let Stored { notes: stored, keeping, .. } = stored;
                Outcome { mine: Vec::new(), notes, stored, keeping, is_write: false }
            }
            Job::Write { base, mine, under_another_name } => {
                if under_another_name {
                    self.beside = self.other();
                }
                let stored = self.stored();
                // A file that is gone or broken has deleted nothing.
                let base = if stored.is_whole { base } else { Vec::new() };
                let notes = merged(&base, &mine, &stored.notes);
                let keeping = self.write(&notes, &stored);
                let is_saved = !matches!(keeping, Keeping::Unsaved { .. });
                let stored = if is_saved { notes.clone() } else { stored.notes };
                Outcome { mine, notes, stored, keeping, is_write: true }
            }
        }
    }

    fn other(&self) -> PathBuf {
        other_notes_beside(&self.recording)
    }

    fn stored(&self) -> Stored {
        let beside = read(&self.beside);
        let in_settings = self.in_settings.as_deref().map(read).unwrap_or_default();
        let why = |path: &Path, file: &NotesFile| {
            file.kept.as_ref().map(|why| tr!("{} stays as it is, because {why}", path.display(), why))
        };
        let kept_beside = why(&self.beside, &beside);
        let settings_path = self.in_settings.clone().unwrap_or_default();
        let kept_in_settings = why(&settings_path, &in_settings);
        let keeping = match &kept_beside {
            Some(why) => Keeping::Unsaved { why: why.clone(), can_rename: self.can_rename() },
            None if !in_settings.notes.is_empty() => {
                Keeping::InSettings { path: settings_path, why: tr!("they were written there before") }
            }
            None if !beside.notes.is_empty() => Keeping::Beside(self.beside.clone()),
            None => Keeping::NotYet,
        };
        let has_file = self.beside.is_file() || self.in_settings.as_ref().is_some_and(|path| path.is_file());
        let is_whole = has_file && kept_beside.is_none() && kept_in_settings.is_none();
        let notes = merged(&[], &in_settings.notes, &beside.notes);
        Stored { notes, keeping, is_whole, kept_beside, kept_in_settings }
    }

    fn can_rename(&self) -> bool {
        self.beside != self.other()
    }

    /// Write beside the recording or, where that cannot be, in the settings folder.
    fn write(&self, notes: &[Note], stored: &Stored) -> Keeping {
        if let Some(why) = &stored.kept_beside {
            return Keeping::Unsaved { why: why.clone(), can_rename: self.can_rename() };
        }
        let name = self.recording.to_string_lossy();
        let Some(text) = written_notes(&name, notes) else {
            let why = tr!("there is room for {} notes and 1 MiB", MAX_NOTES);
            return Keeping::Unsaved { why, can_rename: false };
        };
        let refused = match save(&self.beside, &text) {
            Ok(()) => {
                self.leave_settings(stored);
                return Keeping::Beside(self.beside.clone());
            }
            Err(refused) => refused.to_string(),
        };
        let Some(path) = &self.in_settings else {
            return Keeping::Unsaved { why: refused, can_rename: false };
        };
        if let Some(why) = &stored.kept_in_settings {
            return Keeping::Unsaved { why: format!("{refused}; {why}"), can_rename: false };
        }
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        let saved = made.map_err(|error| error.to_string());
        match saved.and_then(|()| save(path, &text).map_err(|error| error.to_string())) {
            Ok(()) => Keeping::InSettings { path: path.clone(), why: refused },
            Err(error) => Keeping::Unsaved { why: format!("{refused}; {error}"), can_rename: false },
        }
    }

    /// All notes of the settings folder are beside the recording now: there, they would come back when they are deleted.
    fn leave_settings(&self, stored: &Stored) {
        let Some(path) = self.in_settings.as_ref().filter(|_| stored.kept_in_settings.is_none()) else {
            return;
        };
        if path.is_file() {
            fs::remove_file(path).inspect_err(|error| log::warn!("{}: {error}", path.display())).ok();
        }
    }
}

fn read(path: &Path) -> NotesFile {
    match read_text(path, MAX_FILE_BYTES) {
        Ok(None) => NotesFile::default(),
        Ok(Some(text)) => read_notes(&text),
        Err(error) => NotesFile::unreadable(&error.to_string()),
    }
}

fn save(path: &Path, text: &str) -> Result<(), SaveError> {
    let refused = |source| SaveError::Refused { path: path.to_owned(), source };
    let mut file = NewFile::create(path)?;
    file.write_all(text.as_bytes()).map_err(refused)?;
    file.finish(Existing::Replace)
}

/// The name of a recording's file in the settings folder: it differs for every path.
fn key(recording: &Path) -> String {
    let place = fs::canonicalize(recording).unwrap_or_else(|_| recording.to_owned());
    format!("{}{NOTES_SUFFIX}", own_name(&place))
}
