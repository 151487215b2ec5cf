//! Files in the real application: tabs, recent files, drops, changes on the disk.

use super::*;
use crate::device::Selection;
use crate::files::glances::Glances;
use crate::screenshots::Camera;
use oomscope_analysis::device_stats;
use oomscope_fixtures::first;
use oomscope_snapshot::load::{Input, Progress, load};
use oomscope_units as units;

use eframe::egui::Modifiers;
use egui_kittest::kittest::NodeT as _;
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

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
pub(super) struct Dropped(pub(super) PathBuf);

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
fn a_file_that_meets_the_bound_of_memory_can_be_loaded_with_more() {
    // 200 texts of a megabyte, which differ in their first bytes: 20 KB as zstd.
    let mut pickle = b"\x80\x04".to_vec();
    for i in 0..200_u32 {
        let text = i.to_string() + &" ".repeat(1 << 20);
        pickle.push(b'X');
        pickle.extend((text.len() as u32).to_le_bytes());
        pickle.extend(text.as_bytes());
        pickle.push(b'0');
    }
    pickle.extend(b"}(X\x08\0\0\0segments]X\x0d\0\0\0device_traces]u.");
    let packed = zstd::encode_all(&pickle[..], 1).expect("memory can be compressed");
    let mut harness = harness();
    let _folder = open(&mut harness, &packed);
    assert!(harness.query_by_label_contains("bytes of memory").is_some());
    assert!(harness.query_by_label_contains("What to try: if you trust").is_some());
    harness.get_by_label("Load with more memory").click();
    let is_open = wait(&mut harness, |harness| {
        let documents = &mut harness.state_mut().documents;
        documents[0].open_file().is_some()
    });
    assert!(is_open, "with more memory it is read");
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
    let Some(path) = pipe_in(folder.path()) else { return };
    let mut harness = harness();
    harness.state_mut().commands.push(Command::OpenFile(path));
    harness.run_steps(3);
    assert!(harness.query_by_label("Loading pipe.pickle").is_some());
    harness.get_by_label("Cancel").click();
    harness.run_steps(3);
    assert!(harness.state().documents.is_empty());
    assert!(harness.query_by_label("Open snapshots…").is_some());
    assert!(harness.query_by_label("Loading pipe.pickle was cancelled").is_some());
    assert!(harness.state().glances.recent().next().is_none(), "what was never open is not remembered");
}

#[cfg(unix)]
#[test]
fn a_file_can_be_seen_while_it_is_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(path) = pipe_in(folder.path()) else { return };
    let stats = {
        let snapshot = load(&Input::File(sample("kv_cache_oom.pickle")), &Progress::default());
        let snapshot = snapshot.expect("the sample loads");
        device_stats(&first(snapshot))
    };
    for theme in [Theme::Dark, Theme::Light] {
        let camera = Camera::default();
        let mut harness = camera.harness([900.0, 600.0], theme);
        harness.state_mut().commands.push(Command::OpenFile(path.clone()));
        let (let_end, writer) = write_most(&path);
        let start = Instant::now();
        while harness.query_by_role_and_label(Role::Canvas, "Shape of the curve so far").is_none() {
            assert!(start.elapsed() < Duration::from_mins(1), "nothing is seen");
            std::thread::sleep(Duration::from_millis(20));
            harness.run_steps(2);
        }
        camera.save(&harness, &format!("loading_{theme:?}"));
        harness.get_by_role_and_label(Role::Canvas, "Segments at the end of the recording");
        harness.get_by_label_contains("Level not known yet");
        let reserved = units::bytes(stats.r#final.reserved);
        let count = units::counted(stats.segments, "segment");
        let active = units::bytes(stats.r#final.active);
        harness
            .get_by_label(&format!("Device 0 at the end: {reserved} reserved in {count}, {active} active"));
        let_end.send(()).expect("the writer waits");
        writer.join().expect("the writer ends").expect("the pipe is read");
    }
}

/// Write a sample into a pipe: most of it, more than is read at once, and the rest when told to.
#[cfg(unix)]
fn write_most(pipe: &Path) -> (SyncSender<()>, JoinHandle<io::Result<()>>) {
    let (let_end, end) = sync_channel(1);
    let to = pipe.to_owned();
    let writer = std::thread::Builder::new().name("writer".to_owned()).spawn(move || {
        let bytes = std::fs::read(sample("kv_cache_oom.pickle"))?;
        let (first, rest) = bytes.split_at(bytes.len() - 20_000);
        let mut pipe = std::fs::OpenOptions::new().write(true).open(to)?;
        pipe.write_all(first)?;
        end.recv().ok();
        pipe.write_all(rest)
    });
    (let_end, writer.expect("a thread"))
}

/// A named pipe; none where they cannot be made.
#[cfg(unix)]
fn pipe_in(folder: &Path) -> Option<PathBuf> {
    let path = folder.join("pipe.pickle");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if made.is_ok_and(|status| status.success()) {
        return Some(path);
    }
    eprintln!("SKIPPED: no pipe without mkfifo");
    None
}

/// A window that remembers files in a folder.
fn harness_in(settings: &Path) -> Harness<'static, App> {
    let mut harness = harness();
    let ctx = harness.ctx.clone();
    let app = harness.state_mut();
    app.glances = Glances::new(Some(settings.to_owned()), &ctx, WorkMode::Blocking);
    harness.run_steps(3);
    harness
}

#[test]
fn files_that_were_open_are_offered_again_and_missing_ones_are_not() {
    let settings = tempfile::tempdir().expect("a temporary folder");
    let mut first = harness_in(settings.path());
    let folder = open(&mut first, &snapshot_pickle());
    // The window is killed: nothing is stored when it is closed.
    let mut second = harness_in(settings.path());
    second.get_by_label("run.pickle").click();
    assert!(wait(&mut second, |harness| harness.query_by_label_contains("Out of memory").is_some()));

    drop(folder);
    let mut third = harness_in(settings.path());
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
fn the_start_page_shows_verdicts_of_recent_files_without_looking_again() {
    let settings = tempfile::tempdir().expect("a temporary folder");
    let mut first = harness_in(settings.path());
    open_path(&mut first, sample("leak_attempts.pickle.gz"));
    let verdict = device(&mut first).derived.verdict().expect("a verdict").title.clone();
    first.run_steps(2);
    let mut second = harness_in(settings.path());
    // Nothing is looked at here, so this is what was remembered.
    assert!(!second.state().glances.may_scan);
    assert!(wait(&mut second, |harness| harness.query_by_label_contains(&verdict).is_some()));
}

#[test]
fn samples_get_verdicts_in_the_background() {
    let mut harness = harness();
    assert!(harness.query_by_label_contains("attention scores").is_some(), "what the README says");
    harness.state_mut().glances.may_scan = true;
    assert!(wait(&mut harness, |harness| {
        4 <= harness.query_all_by_label_contains("Out of memory").count()
            || harness.query_by_label_contains("device 1 of 2").is_some()
    }));
}

#[test]
fn a_sample_that_the_program_carries_opens() {
    let mut harness = harness();
    let bytes = include_bytes!("../../assets/samples/two_devices_oom.pickle.gz");
    let input = Input::Bundled { name: "two_devices_oom.pickle", bytes };
    harness.state_mut().commands.push(Command::OpenSample(input));
    assert!(wait(&mut harness, |harness| harness.query_by_label("go to OOM").is_some()));
    assert_eq!(titles(&harness), ["two_devices_oom.pickle"]);
    assert!(harness.state().glances.recent().next().is_none());
}

/// A folder with some snapshots, a file that is none, and a folder.
fn folder_of_runs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, from) in
        [("rank10.pickle", "two_devices_oom.pickle"), ("rank9.pickle.gz", "compact.pickle.gz")]
    {
        std::fs::copy(sample(from), folder.path().join(name)).expect("a temporary file");
    }
    std::fs::write(folder.path().join("broken.pickle"), b"nothing").expect("a temporary file");
    std::fs::create_dir(folder.path().join("iteration_20")).expect("a temporary folder");
    folder
}

pub(super) fn open_folder(harness: &mut Harness<'static, App>, path: &Path) {
    harness.input_mut().dropped_files.push(Arc::new(Dropped(path.to_owned())));
    assert!(wait(harness, |harness| harness.query_by_label("List again").is_some()));
}

/// The names of the files, from top to bottom.
pub(super) fn rows(harness: &Harness<'static, App>) -> Vec<String> {
    let links = harness.query_all_by_role(Role::Link);
    let mut names: Vec<(i64, String)> = links
        .filter_map(|node| Some((node.rect().top() as i64, node.accesskit_node().label()?)))
        .filter(|(_, name)| name.contains(".pickle"))
        .collect();
    names.sort_unstable();
    names.into_iter().map(|(_, name)| name).collect()
}

#[test]
fn a_folder_lists_its_snapshots_with_verdicts() {
    let folder = folder_of_runs();
    let mut harness = harness();
    harness.state_mut().glances.may_scan = true;
    open_folder(&mut harness, folder.path());
    assert_eq!(rows(&harness), ["broken.pickle", "rank9.pickle.gz", "rank10.pickle"]);
    assert!(wait(&mut harness, |harness| { harness.query_by_label_contains("not looked at yet").is_none() }));
    assert!(
        harness.query_by_label_contains("3 snapshots · 1 ran out of memory · 1 cannot be opened").is_some()
    );
    harness.get_by_label("Verdict").click();
    harness.run_steps(3);
    assert_eq!(rows(&harness)[0], "rank10.pickle");
    harness.get_by_label("rank10.pickle").click();
    assert!(wait(&mut harness, |harness| harness.query_by_label("go to OOM").is_some()));
    assert_eq!(harness.state().documents.len(), 2);
}

#[test]
fn a_folder_is_listed_again_and_its_folders_open() {
    let folder = folder_of_runs();
    let mut harness = harness();
    open_folder(&mut harness, folder.path());
    std::fs::copy(sample("compact.pickle.gz"), folder.path().join("iteration_20/new.pickle.gz"))
        .expect("a temporary file");
    std::fs::remove_file(folder.path().join("broken.pickle")).expect("a temporary file");
    harness.key_press(Key::F5);
    harness.run_steps(3);
    assert_eq!(rows(&harness), ["rank9.pickle.gz", "rank10.pickle"]);
    harness.get_by_label("iteration_20").click();
    assert!(wait(&mut harness, |harness| rows(harness) == ["new.pickle.gz"]));
    assert_eq!(titles(&harness)[1], "iteration_20");
}

#[test]
fn looking_at_a_folder_can_be_stopped() {
    let folder = folder_of_runs();
    let mut harness = harness();
    open_folder(&mut harness, folder.path());
    harness.get_by_label("Stop").click();
    harness.run_steps(2);
    harness.state_mut().glances.may_scan = true;
    harness.run_steps(10);
    assert!(harness.query_by_label_contains("3 not looked at yet").is_some());
    harness.get_by_label("Look at the others").click();
    assert!(wait(&mut harness, |harness| { harness.query_by_label_contains("not looked at yet").is_none() }));
}

#[test]
fn the_title_of_the_window_names_the_file_and_is_set_once() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    assert_eq!(harness.state().title, "run.pickle — oomscope");
    let set = |harness: &Harness<'_, App>| {
        let viewports = harness.output().viewport_output.values();
        let is_title = |command: &egui::ViewportCommand| matches!(command, egui::ViewportCommand::Title(_));
        viewports.flat_map(|output| &output.commands).filter(|command| is_title(command)).count()
    };
    assert_eq!(set(&harness), 0);
    harness.state_mut().commands.push(Command::Close(0));
    harness.step();
    assert_eq!((set(&harness), harness.state().title.as_str()), (1, "oomscope"));
    harness.step();
    assert_eq!(set(&harness), 0);
}

#[test]
fn names_too_long_for_a_tab_are_cut_and_tabs_too_many_are_in_a_menu() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut harness = harness();
    let name = |at: usize| format!("a_very_long_run_name_with_every_setting_in_it_{at}.pickle");
    for at in 0..9 {
        let path = folder.path().join(name(at));
        std::fs::write(&path, snapshot_pickle()).expect("a temporary file");
        open_path(&mut harness, path);
    }
    assert!(harness.query_by_label(&name(8)).is_some(), "the file that is shown has its tab in sight");
    assert!(harness.query_by_label(&name(0)).is_none());
    let settings = harness.get_by_label("Settings").rect();
    assert!(harness.get_by_label("All 9").rect().right() <= settings.left());
    harness.get_by_label("All 9").click();
    harness.run_steps(3);
    harness.get_by_label(&name(0)).click();
    harness.run_steps(3);
    assert_eq!(harness.state().current, 0);
    assert!(harness.query_by_label(&name(0)).is_some());
    harness.get_by_label(&name(0)).click_secondary();
    harness.run_steps(3);
    harness.get_by_label("Close others").click();
    harness.run_steps(3);
    assert_eq!(titles(&harness), [name(0)]);
}

#[test]
fn the_layout_is_reset_from_the_settings_and_from_a_tab() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    harness.get_by_label("Settings").click();
    harness.run_steps(3);
    assert!(harness.query_by_label("Reset layout").is_some());
    harness.key_press(Key::Escape);
    harness.run_steps(3);
    harness.get_by_label("run.pickle").click_secondary();
    harness.run_steps(3);
    harness.get_by_label("Reset layout").click();
    harness.run_steps(3);
    assert!(harness.query_by_label("Reset layout").is_none());
}

#[test]
fn devices_are_tabs_that_say_where_memory_ran_out() {
    let mut harness = harness();
    open_path(&mut harness, sample("two_devices_oom.pickle"));
    let file = |harness: &mut Harness<'static, App>| {
        let app = harness.state_mut();
        app.documents[app.current].open_file().expect("an open file").current
    };
    assert_eq!(file(&mut harness), 1, "the device that failed is shown");
    assert!(harness.query_by_label("ran out of memory").is_none());
    harness.get_by_role_and_label(Role::Tab, "device 0").click();
    harness.run_steps(3);
    assert_eq!(file(&mut harness), 0);
    assert!(harness.query_by_label("ran out of memory").is_some());
    harness.get_by_role_and_label(Role::Link, "device 1").click();
    harness.run_steps(3);
    assert_eq!(file(&mut harness), 1);
}

#[test]
fn a_file_that_changed_on_the_disk_is_loaded_again_at_the_same_event() {
    let mut harness = harness();
    let folder = open(&mut harness, &snapshot_pickle());
    harness.input_mut().focused = true;
    device(&mut harness).at.move_to(Moment(3));
    let selection = Selection::Allocation(oomscope_model::AllocId(0));
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
fn a_file_that_goes_away_while_it_is_open_stays_as_it_was_read() {
    let mut harness = harness();
    let folder = open(&mut harness, &snapshot_pickle());
    device(&mut harness).at.move_to(Moment(3));
    let path = folder.path().join("run.pickle");
    // Deleted, replaced by what cannot be read as a file, and cut off while somebody writes it.
    let half = snapshot_pickle()[..20].to_vec();
    let faults: [&dyn Fn(); 3] = [
        &|| std::fs::remove_file(&path).expect("it can be removed"),
        &|| std::fs::create_dir(&path).expect("a folder"),
        &|| {
            std::fs::remove_dir(&path).expect("it can be removed");
            std::fs::write(&path, &half).expect("a temporary file");
        },
    ];
    for fault in faults {
        fault();
        let old = device(&mut harness).recording.clone();
        harness.run_steps(3);
        harness.key_press(Key::F5);
        assert!(wait(&mut harness, |harness| harness
            .query_by_label_contains("could not be loaded again")
            .is_some()));
        assert!(device(&mut harness).recording == old, "the version before stays");
        assert_eq!(device(&mut harness).at.cursor, Moment(3));
        harness.get_by_label("Dismiss").click();
        harness.run_steps(3);
    }
}

#[test]
fn settings_that_cannot_be_read_are_those_of_a_new_window() {
    let mut fresh = harness();
    let mut kept = Kept::default();
    eframe::App::save(fresh.state_mut(), &mut kept);
    let keys: Vec<String> = kept.0.keys().cloned().collect();
    assert!(keys.iter().any(|key| key == LAYOUT_KEY) && keys.iter().any(|key| key == PREFERENCES_KEY));
    let long = "(".repeat(100_000);
    for garbage in ["", "\u{0}\u{1b}[31m", "(layout: 1, 2", "[[[]]]", "-1e999", &long] {
        let mut harness = harness();
        let all = keys.iter().map(|name| (name.clone(), garbage.to_owned()));
        harness.state_mut().restore(Some(&Kept(all.collect())));
        let folder = open(&mut harness, &snapshot_pickle());
        harness.run_steps(3);
        let mut again = Kept::default();
        eframe::App::save(harness.state_mut(), &mut again);
        assert_eq!(again.0.get(PREFERENCES_KEY), kept.0.get(PREFERENCES_KEY), "{garbage:.20}");
        drop(folder);
    }
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

#[test]
fn a_recording_that_contradicts_itself_says_so() {
    let mut harness = harness();
    let mut bytes = snapshot_pickle();
    // The first 8 MiB are those of the event; the block at the end stays as large as it was.
    let of_event = [b'J', 0, 0, 0x80, 0];
    let at = bytes.windows(5).position(|window| window == of_event).expect("the size of an event");
    bytes[at + 3] = 0x70;
    let _folder = open(&mut harness, &bytes);
    assert!(harness.query_by_label_contains("The recording contradicts itself").is_some());
    assert!(harness.query_by_label_contains("an allocation has another size than what is freed").is_some());
}

#[test]
fn what_a_picture_means_is_explained_once() {
    let mut kept = Kept::default();
    let mut first = harness();
    first.state_mut().restore(Some(&kept));
    let explains =
        |harness: &Harness<'static, App>| harness.query_by_label_contains("keeps its colours").is_some();
    assert!(!explains(&first), "there is no picture yet");
    open_path(&mut first, sample("frag_oom.pickle"));
    first.run_steps(3);
    assert!(explains(&first));
    first.get_by_label("Got it").click();
    first.run_steps(3);
    assert!(!explains(&first));
    eframe::App::save(first.state_mut(), &mut kept);
    let mut second = harness();
    second.state_mut().restore(Some(&kept));
    open_path(&mut second, sample("frag_oom.pickle"));
    second.run_steps(3);
    assert!(!explains(&second));
}
