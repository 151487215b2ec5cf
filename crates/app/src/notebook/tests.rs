//! Notes on the disk: what is saved is there again, and no file is lost.

use super::{Keeping, Notebook};
use crate::work::setup::Setup;
use crate::work::worker::WorkMode;
use eframe::egui;
use oomscope_report::notes::Note;
use oomscope_snapshot::load::{Input, notes_beside};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder with a recording, and one for settings.
struct Disk {
    folder: tempfile::TempDir,
}

impl Disk {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("runs")).expect("a temporary folder");
        fs::write(folder.path().join("runs/run.pickle"), b"x").expect("a temporary file");
        Self { folder }
    }

    fn recording(&self) -> PathBuf {
        self.folder.path().join("runs/run.pickle")
    }

    fn file(&self) -> PathBuf {
        notes_beside(&self.recording())
    }

    fn settings(&self) -> PathBuf {
        self.folder.path().join("settings")
    }

    fn open_with(&self, mode: WorkMode) -> Notebook {
        let setup = Setup { settings_folder: Some(self.settings()), ..Setup::new(mode) };
        let book = Notebook::open(&Input::File(self.recording()), &egui::Context::default(), &setup);
        book.update();
        book
    }

    fn open(&self) -> Notebook {
        self.open_with(WorkMode::Blocking)
    }
}

fn note(text: &str) -> Note {
    Note { text: text.to_owned(), place: "event=3 filter=\"a b\"".parse().expect("a place") }
}

fn add(book: &Notebook, text: &str) -> String {
    assert_eq!(book.add(note(text)), None);
    book.update().unwrap_or_default()
}

fn texts(book: &Notebook) -> Vec<String> {
    book.notes().iter().map(|note| note.text.clone()).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn notes_are_beside_the_recording_at_once_and_there_again() {
    let disk = Disk::new();
    let book = disk.open();
    assert_eq!(book.keeping(), Keeping::NotYet);
    assert!(!disk.file().exists(), "looking makes no file");
    assert_eq!(add(&book, "why?"), "Notes saved in run.pickle.oomscope.toml");
    add(&book, "and this?");
    assert_eq!(disk.open().notes()[0], note("why?"));
    book.replace(&note("why?"), note("because"));
    book.update();
    book.remove(1);
    book.update();
    assert_eq!(texts(&disk.open()), ["because"]);
    assert_eq!(names(&disk.folder.path().join("runs")), ["run.pickle", "run.pickle.oomscope.toml"]);
}

#[test]
fn two_windows_keep_each_others_notes() {
    let disk = Disk::new();
    let (one, other) = (disk.open(), disk.open());
    add(&one, "a");
    let said = add(&other, "b");
    assert!(said.contains("changes that were made elsewhere"), "{said}");
    assert_eq!(texts(&other), ["b", "a"]);
    add(&one, "c");
    one.remove(0);
    one.update();
    assert_eq!(texts(&disk.open()), ["c", "b"]);
    // Deleting the file deletes no note of a window.
    fs::remove_file(disk.file()).expect("it is there");
    add(&one, "d");
    assert_eq!(texts(&disk.open()), ["c", "b", "d"]);
}

#[test]
fn a_broken_file_stays_and_the_notes_go_elsewhere_on_request() {
    let disk = Disk::new();
    for broken in ["[[note", "[net]\nretry = 3\n", "format = \"oomscope-notes\"\nversion = 7\n"] {
        fs::write(disk.file(), broken).expect("a temporary file");
        let book = disk.open();
        assert!(matches!(book.keeping(), Keeping::Unsaved { can_rename: true, .. }), "{broken}");
        let said = add(&book, "mine");
        assert!(said.starts_with("Notes are not saved: ") && said.contains("stays as it is"), "{said}");
        add(&book, "mine, too");
        assert_eq!(fs::read_to_string(disk.file()).expect("the file"), broken);
        assert_eq!(texts(&book), ["mine", "mine, too"]);
        book.save_under_another_name();
        assert_eq!(book.update().as_deref(), Some("Notes saved in run.pickle.2.oomscope.toml"));
        assert_eq!(fs::read_to_string(disk.file()).expect("the file"), broken);
        let again = disk.open();
        assert_eq!(texts(&again), ["mine", "mine, too"]);
        add(&again, "more");
        assert_eq!(texts(&disk.open()), ["mine", "mine, too", "more"]);
        fs::remove_file(disk.recording().with_file_name("run.pickle.2.oomscope.toml")).expect("it is there");
    }
}

#[test]
fn where_nothing_can_be_written_notes_are_in_the_settings() {
    let disk = Disk::new();
    add(&disk.open(), "a colleague's");
    // Unlike a folder, a file is protected from every user here.
    let protect = |is_protected| {
        let mut permissions = fs::metadata(disk.file()).expect("it is there").permissions();
        permissions.set_readonly(is_protected);
        fs::set_permissions(disk.file(), permissions).expect("its owner may");
    };
    protect(true);
    let before = fs::read(disk.file()).expect("the file");
    let said = add(&disk.open(), "mine");
    assert!(said.contains("notes are kept in ") && said.contains("settings"), "{said}");
    assert_eq!(fs::read(disk.file()).expect("the file"), before);
    let there = names(&disk.settings().join("notes"));
    assert!(there.len() == 1 && there[0].starts_with("run.pickle-"), "{there:?}");
    let book = disk.open();
    assert!(matches!(book.keeping(), Keeping::InSettings { .. }));
    assert_eq!(texts(&book), ["a colleague's", "mine"]);
    protect(false);
    assert_eq!(add(&book, "beside"), "Notes saved in run.pickle.oomscope.toml");
    assert_eq!(texts(&disk.open()), ["a colleague's", "mine", "beside"]);
    assert!(names(&disk.settings().join("notes")).is_empty());
}

#[test]
fn a_thread_has_written_everything_when_the_window_is_closed() {
    let disk = Disk::new();
    let book = disk.open_with(WorkMode::Background);
    (0..5).for_each(|at| assert_eq!(book.add(note(&at.to_string())), None));
    drop(book);
    assert_eq!(texts(&disk.open()), ["0", "1", "2", "3", "4"]);
}

#[test]
fn what_is_no_file_has_notes_in_its_window() {
    let setup = Setup::new(WorkMode::Blocking);
    let book = Notebook::open(&Input::Stdin, &egui::Context::default(), &setup);
    assert_eq!(book.add(note("x")), None);
    assert_eq!(texts(&book), ["x"]);
    assert!(matches!(book.keeping(), Keeping::Unsaved { can_rename: false, .. }));
}
