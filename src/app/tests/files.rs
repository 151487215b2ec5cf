//! Files in the real application: tabs, recent files, drops, changes on the disk.

use super::*;
use crate::app::device::Selection;

use eframe::egui::Modifiers;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A storage in memory.
#[derive(Default)]
struct Kept(BTreeMap<String, String>);

impl eframe::Storage for Kept {
    fn get_string(&self, key: &str) -> Option<String> {
        self.0.get(key).cloned()
    }

    fn set_string(&mut self, key: &str, value: String) {
        self.0.insert(key.to_owned(), value);
    }

    fn remove_string(&mut self, key: &str) {
        self.0.remove(key);
    }

    fn flush(&mut self) {}
}

/// A file that is dropped on the window.
#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

fn titles(harness: &Harness<'_, App>) -> Vec<String> {
    harness.state().documents.iter().map(|document| document.title().to_owned()).collect()
}

#[test]
fn several_dropped_files_open_in_tabs_that_keys_switch_and_close() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut harness = harness();
    for name in ["one.pickle", "two.pickle"] {
        let path = folder.path().join(name);
        std::fs::write(&path, snapshot_pickle()).expect("a temporary file");
        harness.input_mut().dropped_files.push(Arc::new(Dropped(path)));
    }
    assert!(wait(&mut harness, |harness| {
        let documents = &mut harness.state_mut().documents;
        documents.len() == 2 && documents.iter_mut().all(|document| document.open_file().is_some())
    }));
    assert_eq!(titles(&harness), ["one.pickle", "two.pickle"]);
    device(&mut harness).at.move_to(Moment(2));
    harness.key_press_modifiers(Modifiers::CTRL, Key::Tab);
    harness.run_steps(2);
    assert_eq!(harness.state().current, 0);
    assert_eq!(device(&mut harness).at.cursor, Moment(7), "each file has a cursor of its own");
    harness.key_press_modifiers(Modifiers::CTRL.plus(Modifiers::SHIFT), Key::Tab);
    harness.run_steps(2);
    assert_eq!(harness.state().current, 1);
    assert_eq!(device(&mut harness).at.cursor, Moment(2));
    harness.get_by_label("one.pickle").click();
    harness.run_steps(2);
    assert_eq!(harness.state().current, 0);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::W);
    harness.run_steps(2);
    assert_eq!(titles(&harness), ["two.pickle"]);
    harness.get_by_label("Close two.pickle").click();
    harness.run_steps(2);
    assert!(harness.query_by_label("Open snapshots…").is_some());
}

#[cfg(unix)]
#[test]
fn cancelling_a_load_that_never_ends_leaves_no_tab() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pipe.pickle");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: no pipe without mkfifo");
        return;
    }
    let mut harness = harness();
    harness.state_mut().commands.push(Command::OpenFile(path));
    harness.run_steps(3);
    assert!(harness.query_by_label("Loading pipe.pickle").is_some());
    harness.get_by_label("Cancel").click();
    harness.run_steps(3);
    assert!(harness.state().documents.is_empty());
    assert!(harness.query_by_label("Open snapshots…").is_some());
    assert!(harness.query_by_label("Loading pipe.pickle was cancelled").is_some());
    assert!(harness.state().recent.files().is_empty(), "what was never open is not remembered");
}

#[test]
fn files_that_were_open_are_offered_again_and_missing_ones_are_not() {
    let mut first = harness();
    let folder = open(&mut first, &snapshot_pickle());
    let mut kept = Kept::default();
    eframe::App::save(first.state_mut(), &mut kept);

    let mut second = harness();
    second.state_mut().restore(Some(&kept));
    second.run_steps(3);
    second.get_by_label("run.pickle").click();
    assert!(wait(&mut second, |harness| harness.query_by_label_contains("Out of memory").is_some()));

    drop(folder);
    let mut third = harness();
    third.state_mut().restore(Some(&kept));
    assert!(wait(&mut third, |harness| harness.query_by_label_contains("no longer there").is_some()));
    third.get_by_label("run.pickle").click();
    third.run_steps(3);
    assert!(third.state().documents.is_empty());
    third.get_by_label("Recent").click();
    third.run_steps(3);
    third.get_by_label("Clear this list").click();
    third.run_steps(3);
    assert!(third.query_by_label("run.pickle").is_none());
}

#[test]
fn a_file_that_changed_on_the_disk_is_loaded_again_at_the_same_event() {
    let mut harness = harness();
    let folder = open(&mut harness, &snapshot_pickle());
    harness.input_mut().focused = true;
    device(&mut harness).at.move_to(Moment(3));
    let selection = Selection::Allocation(crate::model::AllocId(0));
    device(&mut harness).at.select(selection);
    device(&mut harness).at.query = "size>3MB".to_owned();
    assert!(harness.query_by_label_contains("has changed").is_none());
    // Another byte after the pickle's end makes another version of the file, with an equal recording.
    let path = folder.path().join("run.pickle");
    let newer = [snapshot_pickle(), b"\n".to_vec()].concat();
    std::fs::write(&path, newer).expect("a temporary file");
    assert!(wait(&mut harness, |harness| harness
        .query_by_label("The file has changed on the disk.")
        .is_some()));
    let old = device(&mut harness).recording.clone();
    harness.get_by_label("Reload").click();
    assert!(wait(&mut harness, |harness| device(harness).recording != old));
    assert!(harness.query_by_label_contains("has changed").is_none());
    assert_eq!(device(&mut harness).at.cursor, Moment(3));
    assert_eq!(device(&mut harness).at.selection(), selection);
    assert_eq!(device(&mut harness).at.query, "size>3MB");

    std::fs::write(&path, b"no snapshot any more").expect("a temporary file");
    harness.key_press(Key::F5);
    assert!(wait(&mut harness, |harness| harness
        .query_by_label_contains("could not be loaded again")
        .is_some()));
    assert_eq!(device(&mut harness).at.cursor, Moment(3), "the version before stays");
    harness.get_by_label("Dismiss").click();
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("could not be loaded again").is_none());
}

#[test]
fn a_selected_stack_is_found_again_after_a_reload() {
    let mut harness = harness();
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    let stack = {
        let recording = &device(&mut harness).recording;
        recording.stack(recording.ids().last().expect("allocations"))
    };
    device(&mut harness).at.select(Selection::Stack(stack));
    let old = device(&mut harness).recording.clone();
    harness.run_steps(2);
    harness.key_press(Key::F5);
    assert!(wait(&mut harness, |harness| device(harness).recording != old));
    assert_eq!(device(&mut harness).at.selection(), Selection::Stack(stack));
}
