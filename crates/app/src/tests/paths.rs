//! Opening files by the field inside the window.

use super::*;
use crate::screenshots::Camera;
use eframe::egui::Modifiers;
use std::path::Path;

/// A folder with snapshots and other things.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("runs")).expect("a temporary folder");
    for name in ["runs/step_10.pickle", "runs/step_12.pickle", "runs/notes.txt", "last.pickle"] {
        std::fs::write(folder.path().join(name), snapshot_pickle()).expect("a temporary file");
    }
    folder
}

/// The window with the panel, in which a text is written over what was there.
fn panel_with(harness: &mut Harness<'static, App>, text: &str) {
    harness.key_press_modifiers(Modifiers::COMMAND, Key::O);
    harness.run_steps(3);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    harness.run_steps(1);
    write(harness, text);
}

fn write(harness: &mut Harness<'static, App>, text: &str) {
    harness.event(egui::Event::Text(text.to_owned()));
    harness.run_steps(2);
}

fn press(harness: &mut Harness<'static, App>, key: Key) {
    harness.key_press(key);
    harness.run_steps(2);
}

/// The text in the field.
fn written(harness: &Harness<'static, App>) -> String {
    harness.get_by_label("Path").value().expect("a field has a text")
}

fn opens(harness: &mut Harness<'static, App>, title: &str) -> bool {
    wait(harness, |harness| {
        let document = harness.state_mut().documents.last_mut();
        document.is_some_and(|document| document.title() == title && document.open_file().is_some())
    })
}

fn shown(folder: &Path, rest: &str) -> String {
    format!("{}/{rest}", folder.display())
}

#[test]
fn a_path_is_typed_and_enter_opens_it_in_a_tab() {
    let (folder, mut harness) = (folder(), harness());
    panel_with(&mut harness, &shown(folder.path(), "runs/step_12.pickle"));
    press(&mut harness, Key::Enter);
    assert!(opens(&mut harness, "step_12.pickle"));
    assert!(harness.query_by_label("Path").is_none(), "the panel is closed");
}

#[test]
fn tab_completes_folders_and_names_and_then_leaves_the_field() {
    let (folder, mut harness) = (folder(), harness());
    panel_with(&mut harness, &shown(folder.path(), "ru"));
    press(&mut harness, Key::Tab);
    assert_eq!(written(&harness), shown(folder.path(), "runs/"));
    press(&mut harness, Key::Tab);
    assert_eq!(written(&harness), shown(folder.path(), "runs/step_1"));
    write(&mut harness, "0");
    press(&mut harness, Key::Tab);
    assert_eq!(written(&harness), shown(folder.path(), "runs/step_10.pickle"));
    assert!(harness.get_by_label("Path").is_focused());
    press(&mut harness, Key::Tab);
    assert!(!harness.get_by_label("Path").is_focused(), "the field is no trap");
}

#[test]
fn arrows_choose_and_a_folder_is_gone_into() {
    let (folder, mut harness) = (folder(), harness());
    panel_with(&mut harness, &shown(folder.path(), ""));
    press(&mut harness, Key::ArrowUp);
    press(&mut harness, Key::Enter);
    assert_eq!(written(&harness), shown(folder.path(), "runs/"));
    assert!(harness.query_by_label("notes.txt").is_none(), "only snapshots are listed");
    harness.get_by_label("All files").click();
    harness.run_steps(2);
    assert!(harness.query_by_label("notes.txt").is_some());
    harness.get_by_label("Up").click();
    harness.run_steps(2);
    assert_eq!(written(&harness), shown(folder.path(), ""));
    harness.get_by_label("last.pickle").click();
    assert!(opens(&mut harness, "last.pickle"));
}

/// True once the list of a folder is shown.
fn lists(harness: &mut Harness<'static, App>, name: &str) -> bool {
    wait(harness, |harness| harness.query_all_by_label_contains(name).next().is_some())
}

#[test]
fn a_folder_that_is_typed_opens_as_the_list_of_its_snapshots() {
    let (folder, mut harness) = (folder(), harness());
    for slash in ["", "/"] {
        panel_with(&mut harness, &shown(folder.path(), &format!("runs{slash}")));
        press(&mut harness, Key::Enter);
        if slash.is_empty() {
            assert_eq!(written(&harness), shown(folder.path(), "runs/"), "first it is gone into");
            press(&mut harness, Key::Enter);
        }
        assert!(harness.query_by_label("Path").is_none(), "the panel is closed");
        assert!(lists(&mut harness, "step_10.pickle") && harness.query_by_label("Ranks").is_some());
    }
    assert_eq!(harness.state().documents.len(), 2);
}

#[test]
fn a_folder_is_opened_with_a_click_and_by_dropping_it() {
    let (folder, mut harness) = (folder(), harness());
    panel_with(&mut harness, &shown(folder.path(), "runs/step_1"));
    harness.get_by_label("This folder").click();
    harness.run_steps(2);
    assert!(harness.query_by_label("Path").is_none(), "the panel is closed");
    assert!(lists(&mut harness, "step_12.pickle"));
    assert_eq!(harness.state().documents[0].title(), "runs");
    let path = folder.path().join("runs");
    harness.input_mut().dropped_files.push(Arc::new(super::files::Dropped(path)));
    harness.run_steps(2);
    assert_eq!(harness.state().documents.len(), 2);
    assert!(lists(&mut harness, "step_12.pickle"));
}

#[test]
fn a_folder_that_cannot_be_read_is_not_opened() {
    let mut harness = harness();
    panel_with(&mut harness, "/no/such/folder/");
    press(&mut harness, Key::Enter);
    assert!(harness.query_by_label_contains("cannot be read").is_some());
    assert!(harness.state().documents.is_empty());
}

#[test]
fn what_is_not_there_is_not_opened_and_esc_closes() {
    let (folder, mut harness) = (folder(), harness());
    panel_with(&mut harness, &shown(folder.path(), "nothing.pickle"));
    press(&mut harness, Key::Enter);
    assert!(harness.query_by_label_contains("There is no ").is_some());
    assert!(harness.state().documents.is_empty());
    press(&mut harness, Key::Escape);
    assert!(harness.query_by_label("Path").is_none());
    panel_with(&mut harness, "/no/such/folder/");
    assert!(harness.query_by_label_contains("cannot be read").is_some());
}

#[test]
fn the_panel_starts_where_the_file_is_that_is_shown() {
    let (folder, mut harness) = (folder(), harness());
    open_path(&mut harness, folder.path().join("runs/step_10.pickle"));
    harness.key_press_modifiers(Modifiers::COMMAND, Key::O);
    harness.run_steps(3);
    assert_eq!(written(&harness), shown(folder.path(), "runs/"));
    assert!(harness.query_by_label("step_12.pickle").is_some());
}

#[test]
fn the_panels_as_they_look() {
    for (size, theme) in [([1280.0, 800.0], Theme::Dark), ([900.0, 600.0], Theme::Light)] {
        let camera = Camera::default();
        let mut harness = camera.harness(size, theme);
        open_path(&mut harness, sample("frag_oom.pickle"));
        harness.key_press_modifiers(Modifiers::COMMAND, Key::O);
        harness.run_steps(3);
        write(&mut harness, "leak");
        camera.save(&harness, &format!("open_panel_{}_{theme:?}", size[0]));
        harness.key_press(Key::Escape);
        harness.run_steps(2);
        harness.state_mut().commands.push(Command::Export(crate::export::EXPORT_CHOICES[7]));
        harness.run_steps(4);
        camera.save(&harness, &format!("export_panel_{}_{theme:?}", size[0]));
    }
}
