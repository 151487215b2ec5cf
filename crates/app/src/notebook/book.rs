//! The notes about a file, as its panes share them.

use super::keeper::{Job, Keeper, Keeping, Outcome};
use super::thread::KeeperThread;
use crate::work::setup::Setup;
use eframe::egui;
use oomscope_report::notes::{MAX_NOTES, Note, merged};
use oomscope_snapshot::load::Input;
use oomscope_units as units;
use std::cell::{Ref, RefCell};
use std::rc::Rc;
use tr::tr;

/// The notes about a file. Clones are the same notebook.
#[derive(Clone)]
pub(crate) struct Notebook(Rc<RefCell<Book>>);

struct Book {
    notes: Vec<Note>,
    /// Counts changes.
    revision: u64,
    keeping: Keeping,
    /// The notes that were on the disk after the last outcome.
    base: Vec<Note>,
    /// None if the recording is no file.
    keeper: Option<KeeperThread>,
    is_busy: bool,
    /// Something is to be written as soon as nothing else is.
    is_dirty: bool,
    wants_other_name: bool,
}

impl Notebook {
    /// The notes about an input; they are read in the background.
    pub(crate) fn open(input: &Input, ctx: &egui::Context, setup: &Setup) -> Self {
        let keeper = input.path().map(|path| {
            let keeper = Keeper::new(path, setup.settings_folder.as_deref());
            KeeperThread::new(keeper, ctx, setup.mode)
        });
        let keeping = match keeper {
            Some(_) => Keeping::NotYet,
            None => Keeping::Unsaved { why: tr!("the recording is no file"), can_rename: false },
        };
        let mut book = Book {
            notes: Vec::new(),
            revision: 0,
            keeping,
            base: Vec::new(),
            keeper,
            is_busy: false,
            is_dirty: false,
            wants_other_name: false,
        };
        book.send(Job::Read);
        Self(Rc::new(RefCell::new(book)))
    }

    /// The notes, in the order in which they were made.
    pub(crate) fn notes(&self) -> Ref<'_, [Note]> {
        Ref::map(self.0.borrow(), |book| book.notes.as_slice())
    }

    /// A number that differs after every change.
    pub(crate) fn revision(&self) -> u64 {
        self.0.borrow().revision
    }

    /// Where they are kept.
    pub(crate) fn keeping(&self) -> Keeping {
        self.0.borrow().keeping.clone()
    }

    /// Add a note. Returns a message if there is no room for it.
    pub(crate) fn add(&self, note: Note) -> Option<String> {
        if MAX_NOTES <= self.notes().len() {
            return Some(tr!("No more than {} notes fit into a file", units::count(MAX_NOTES as u64)));
        }
        self.change(|notes| notes.push(note));
        None
    }

    /// Put a note in the place of another one.
    pub(crate) fn replace(&self, old: &Note, new: Note) {
        self.change(|notes| match notes.iter_mut().find(|note| *note == old) {
            Some(note) => *note = new,
            // Another window has deleted it; the user has just written it.
            None => notes.push(new),
        });
    }

    /// Delete a note.
    pub(crate) fn remove(&self, at: usize) {
        self.change(|notes| {
            if at < notes.len() {
                notes.remove(at);
            }
        });
    }

    /// Write the notes under another name, as their file must stay as it is.
    pub(crate) fn save_under_another_name(&self) {
        self.0.borrow_mut().wants_other_name = true;
        self.change(|_| ());
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Note>)) {
        let book = &mut *self.0.borrow_mut();
        change(&mut book.notes);
        book.revision += 1;
        book.is_dirty = true;
        book.write();
    }

    /// Take what was read and written. Returns a message about it. Called in every frame.
    pub(crate) fn update(&self) -> Option<String> {
        let book = &mut *self.0.borrow_mut();
        let outcome = book.keeper.as_ref()?.outcome()?;
        book.is_busy = false;
        let said = book.take(outcome);
        book.write();
        said
    }
}

impl Book {
    fn send(&mut self, job: Job) {
        if let Some(keeper) = &mut self.keeper {
            self.is_busy = true;
            keeper.send(job);
        }
    }

    /// Write what has changed, unless something is being done: what comes out of that comes first.
    fn write(&mut self) {
        if self.is_dirty && !self.is_busy {
            self.is_dirty = false;
            let under_another_name = std::mem::take(&mut self.wants_other_name);
            let (base, mine) = (self.base.clone(), self.notes.clone());
            self.send(Job::Write { base, mine, under_another_name });
        }
    }

    fn take(&mut self, outcome: Outcome) -> Option<String> {
        let Outcome { mine, notes, stored, keeping, is_write } = outcome;
        let is_changed_elsewhere = is_write && mine != notes;
        let all = merged(&mine, &self.notes, &notes);
        if all != self.notes {
            self.notes = all;
            self.revision += 1;
        }
        self.base = stored;
        let said = match &keeping {
            Keeping::NotYet => None,
            Keeping::Beside(path) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                is_write.then(|| {
                    if is_changed_elsewhere {
                        tr!("Notes saved in {name}, with changes that were made elsewhere", name)
                    } else {
                        tr!("Notes saved in {name}", name)
                    }
                })
            }
            Keeping::InSettings { path, why } => {
                let said = || tr!("{why}: notes are kept in {}", path.display(), why);
                is_write.then(said)
            }
            Keeping::Unsaved { why, .. } => Some(tr!("Notes are not saved: {why}", why)),
        };
        self.keeping = keeping;
        said.map(|text| units::printable(&units::capitalised(&text)))
    }
}

impl Drop for Book {
    fn drop(&mut self) {
        // Behind what is being done, if anything is; then the thread ends.
        self.is_busy = false;
        self.write();
    }
}
