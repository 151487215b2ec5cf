//! Notes and links in the real application.

use super::{device, harness, open, open_path, sample, snapshot_pickle};
use crate::App;
use crate::device::PaneId;
use crate::device::{Selection, TimelineMode, place};
use eframe::egui::{Event, Key, Modifiers, OutputCommand, Role};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use oomscope_draw::{Axis, ColorBy};
use oomscope_model::{AllocId, Moment};
use oomscope_report::notes::Place;
use std::path::Path;

fn copied(harness: &mut Harness<'static, App>) -> String {
    let commands = &harness.output().platform_output.commands;
    let text = commands.iter().find_map(|command| match command {
        OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    });
    text.expect("something is copied")
}

/// Write a note with the keyboard alone.
fn write_note(harness: &mut Harness<'static, App>, text: &str) {
    // A keyboard sends the letter with the key.
    let (key, modifiers) = (Key::N, Modifiers::NONE);
    let pressed = Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers };
    harness.input_mut().events.extend([pressed, Event::Text("n".to_owned())]);
    harness.run_steps(4);
    assert!(device(harness).states.notes.is_writing());
    harness.event(Event::Text(text.to_owned()));
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    harness.run_steps(4);
}

fn stored(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("run.pickle.oomscope.toml")).unwrap_or_default()
}

#[test]
fn a_note_is_written_found_and_deleted_by_keyboard_and_mouse() {
    let mut harness = harness();
    let folder = open(&mut harness, &snapshot_pickle());
    device(&mut harness).at.show_at(Moment(4), Selection::Allocation(AllocId(1)));
    harness.run_steps(2);
    write_note(&mut harness, "why 4 MiB?");
    let text = stored(folder.path());
    assert!(text.contains("text = \"why 4 MiB?\"\nplace = \"event=3 select=alloc:2\""), "{text}");
    assert!(harness.query_by_label("Notes saved in run.pickle.oomscope.toml").is_some());
    device(&mut harness).wanted_pane = Some(PaneId::Notes);
    device(&mut harness).at.show_at(Moment(1), Selection::None);
    harness.run_steps(4);
    assert!(harness.query_by_label("event 3 · 4.00 MiB of train.py:55 attention").is_some());
    harness.get_by_label("why 4 MiB?").click();
    harness.run_steps(3);
    let at = &device(&mut harness).at;
    assert_eq!((at.cursor, at.selection()), (Moment(4), Selection::Allocation(AllocId(1))));
    device(&mut harness).at.back();
    assert_eq!(device(&mut harness).at.cursor, Moment(1));

    harness.get_by_label("Edit note: why 4 MiB?").click();
    harness.run_steps(3);
    harness.event(Event::Text("!".to_owned()));
    harness.run_steps(2);
    harness.get_by_label("Save").click();
    harness.run_steps(3);
    assert!(stored(folder.path()).contains("text = \"why 4 MiB?!\""), "{}", stored(folder.path()));
    harness.get_by_label("Delete note: why 4 MiB?!").click();
    harness.run_steps(3);
    assert!(!stored(folder.path()).contains("[[note]]"));
    assert!(harness.query_by_label_contains("No notes yet").is_some());
}

#[test]
fn a_flag_on_the_timeline_leads_to_its_note() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    device(&mut harness).at.move_to(Moment(3));
    write_note(&mut harness, "here");
    device(&mut harness).at.move_to(Moment(7));
    harness.run_steps(3);
    harness.get_by_role_and_label(Role::Button, "Note: here").hover();
    harness.run_steps(4);
    assert!(harness.query_by_label("Click to go there").is_some());
    harness.get_by_role_and_label(Role::Button, "Note: here").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.cursor, Moment(3));
    // Copies of the report have it.
    device(&mut harness).wanted_pane = Some(PaneId::Report);
    harness.run_steps(4);
    harness.get_by_label("Copy as Markdown").click();
    harness.run_steps(1);
    assert!(copied(&mut harness).contains("### Notes\n\n- here (event 2)\n"));
}

#[test]
fn a_note_that_is_cancelled_or_empty_is_none() {
    let mut harness = harness();
    let folder = open(&mut harness, &snapshot_pickle());
    device(&mut harness).at.select(Selection::Allocation(AllocId(0)));
    for key in [Key::Escape, Key::Enter] {
        harness.key_press(Key::N);
        harness.run_steps(4);
        if key == Key::Escape {
            harness.event(Event::Text("x".to_owned()));
            harness.run_steps(1);
        }
        harness.key_press(key);
        harness.run_steps(4);
        assert!(!device(&mut harness).states.notes.is_writing(), "{key:?}");
    }
    assert_eq!(device(&mut harness).at.selection(), Selection::Allocation(AllocId(0)));
    assert_eq!(stored(folder.path()), "");
}

#[test]
fn a_stranger_s_notes_are_shown_and_its_file_is_left_alone() {
    let mut harness = harness();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.pickle");
    std::fs::write(&path, snapshot_pickle()).expect("a temporary file");
    let theirs = "format = \"oomscope-notes\"\nversion = 1\nmood = 1\n[[note]]\ntext = \"<b>odd\"\n\
                  place = \"event=4000000000 select=alloc:0xffffffffffffffff range=9..4294967295\"\n";
    std::fs::write(folder.path().join("run.pickle.oomscope.toml"), theirs).expect("a temporary file");
    open_path(&mut harness, path);
    device(&mut harness).wanted_pane = Some(PaneId::Notes);
    harness.run_steps(4);
    harness.get_by_label("<b>odd").click();
    harness.run_steps(4);
    let said = "This recording does not have event 4,000,000,000, an allocation at 0xffffffffffffffff before its first event";
    assert!(harness.query_by_label(said).is_some());
    write_note(&mut harness, "mine");
    assert_eq!(stored(folder.path()), theirs);
    harness.get_by_label("Save under another name").click();
    harness.run_steps(4);
    assert_eq!(stored(folder.path()), theirs);
    let other = std::fs::read_to_string(folder.path().join("run.pickle.2.oomscope.toml"));
    assert!(other.expect("the other file").contains("\"mine\""));
}

#[test]
fn a_link_leads_back_to_the_same_view() {
    let mut harness = harness();
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    let moments = device(&mut harness).recording.moments() as u32;
    for axis in [Axis::Event, Axis::Time] {
        let before = {
            let device = device(&mut harness);
            device.at.set_axis(axis);
            let (stack, last) = (device.recording.stack(AllocId(5)), moments - 1);
            device.at.show_at(Moment(last / 2), Selection::Stack(stack));
            let full = device.at.full;
            device.at.show(full.of_box([full.x1 * 0.25, full.x1 * 0.75], [0.0, full.y1 / 2.0], &full));
            // The height is the user's.
            device.at.fits_height = false;
            device.at.query = "size>1KiB -\"a b\"".to_owned();
            device.at.color_by = ColorBy::Stream;
            place::place(&device.recording, &device.at)
        };
        harness.run_steps(2);
        harness.key_down(Key::L);
        harness.run_steps(1);
        let link = copied(&mut harness);
        assert!(link.starts_with("oomscope gpt_oom_forward.pickle --go '"), "{link}");
        let go = link.split_once("--go '").and_then(|(_, rest)| rest.strip_suffix('\'')).expect("a place");
        let read: Place = go.parse().expect("a place");
        assert_eq!(read, before);
        // Somewhere else, and back by the link.
        let current = harness.state().current;
        device(&mut harness).at.set_axis(Axis::Event);
        device(&mut harness).at.fit();
        device(&mut harness).at.show_at(Moment(0), Selection::None);
        device(&mut harness).at.timeline_mode = TimelineMode::Blocks;
        device(&mut harness).at.query = String::new();
        harness.state_mut().documents[current].visit(read);
        let shown = device(&mut harness);
        assert_eq!(place::place(&shown.recording, &shown.at), before);
    }
}

#[test]
fn a_file_opens_at_the_place_of_a_link_on_its_device() {
    let mut harness = harness();
    let ctx = harness.ctx.clone();
    let input = oomscope_snapshot::load::Input::File(sample("two_devices_oom.pickle"));
    harness.state_mut().open(input, &ctx);
    let place: Place = "device=1 event=start color=size filter=live only".parse().expect("a place");
    harness.state_mut().documents[0].visit(place);
    assert!(super::wait(&mut harness, |harness| harness.state_mut().documents[0].open_file().is_some()));
    let shown = device(&mut harness);
    assert_eq!((shown.recording.device.0, shown.at.cursor), (1, Moment(0)));
    assert_eq!((shown.at.color_by, shown.at.query.as_str()), (ColorBy::Size, "live"));
    harness.state_mut().documents[0].visit("device=7".parse().expect("a place"));
    harness.run_steps(3);
    assert!(harness.query_by_label("This recording does not have device 7").is_some());
}
