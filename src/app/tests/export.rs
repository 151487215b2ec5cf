//! Exporting from the real application, with the answer of the file dialog given.

use crate::app::panes::Pane;
use crate::app::screenshots::Camera;
use crate::app::tests::{device, open_path, sample, wheel};
use crate::app::*;
use crate::draw::segment_map::MapOrder;
use eframe::egui::{Role, Theme};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use std::future::ready;
use std::path::Path;
use std::time::{Duration, Instant};

/// Places in the menu.
const TIMELINE: usize = 0;
const CURVES: usize = 2;
const SEGMENTS: usize = 3;
const SEGMENT_TIMELINE: usize = 4;
const STACKS: usize = 5;

fn harness() -> Harness<'static, App> {
    let mut harness = Camera::default().harness([900.0, 600.0], Theme::Light);
    open_path(&mut harness, sample("frag_oom.pickle"));
    harness
}

/// Export to where the dialog says, and wait for what the status bar says.
fn export(harness: &mut Harness<'static, App>, choice: usize, path: Option<PathBuf>) -> Option<String> {
    answer(harness, choice, Ok(path))
}

/// As [`export`], with a dialog that may fail.
fn answer(
    harness: &mut Harness<'static, App>,
    choice: usize,
    path: Result<Option<PathBuf>, String>,
) -> Option<String> {
    let ctx = harness.ctx.clone();
    let app = harness.state_mut();
    let job = app.export_job(export::EXPORT_CHOICES[choice], &ctx).expect("an open file");
    assert_eq!(app.exporter.start(job, ready(path), &ctx), None);
    let patience = Instant::now() + Duration::from_secs(30);
    while Instant::now() < patience && harness.state_mut().exporter.is_busy() {
        harness.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!harness.state_mut().exporter.is_busy(), "the export does not end");
    let app = harness.state_mut();
    let file = app.documents[0].open_file().expect("an open file");
    file.device().expect("a device").notice.take().or(app.notice.take())
}

fn size_px(path: &Path) -> [u32; 2] {
    let file = std::io::BufReader::new(std::fs::File::open(path).expect("the picture"));
    let reader = png::Decoder::new(file).read_info().expect("a PNG file");
    [reader.info().width, reader.info().height]
}

#[test]
fn a_picture_of_what_is_shown_is_written_and_the_status_bar_says_so() {
    let mut harness = harness();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (first, second) = (folder.path().join("first.png"), folder.path().join("second.png"));
    let said = export(&mut harness, TIMELINE, Some(first.clone())).expect("something is said");
    assert_eq!(said, format!("Picture written to {}", first.display()));
    assert_eq!(size_px(&first), [1800, 1200]);
    let file = harness.state_mut().documents[0].open_file().expect("an open file");
    file.device().expect("a device").at.zoom(4.0);
    export(&mut harness, TIMELINE, Some(second.clone()));
    let read = |path: &Path| std::fs::read(path).expect("the picture");
    assert!(read(&first) != read(&second));
    export(&mut harness, TIMELINE, Some(first.clone()));
    assert!(read(&first) == read(&second));
    export(&mut harness, CURVES, Some(first.clone()));
    assert!(read(&first) != read(&second));
}

#[test]
fn a_picture_shows_the_view_as_it_stands() {
    let mut harness = crate::app::tests::harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.png");
    let mut seen: Vec<Vec<u8>> = Vec::new();
    let mut picture = |harness: &mut Harness<'static, App>, choice| {
        export(harness, choice, Some(path.clone()));
        let file = std::fs::read(&path).expect("the picture");
        assert!(!seen.contains(&file), "the picture does not show what was changed");
        seen.push(file);
    };
    device(&mut harness).wanted_pane = Some(Pane::Segments);
    harness.run_steps(4);
    picture(&mut harness, SEGMENTS);
    device(&mut harness).states.segments.arrangement.order = MapOrder::Fill;
    harness.run_steps(4);
    picture(&mut harness, SEGMENTS);
    let at = harness.get_by_role_and_label(Role::Canvas, "Segment map").rect().center();
    harness.hover_at(at);
    harness.run_steps(2);
    harness.event(wheel(300.0));
    harness.run_steps(20);
    assert!(device(&mut harness).states.segments.is_zoomed());
    picture(&mut harness, SEGMENTS);
    picture(&mut harness, SEGMENT_TIMELINE);
    device(&mut harness).states.segment_timeline.is_all_expanded = true;
    picture(&mut harness, SEGMENT_TIMELINE);
    picture(&mut harness, STACKS);
    device(&mut harness).states.stacks.controls.search = "validate".to_owned();
    picture(&mut harness, STACKS);
}

#[test]
fn a_dialog_that_is_cancelled_says_nothing_and_a_failure_is_told() {
    let mut harness = harness();
    assert_eq!(export(&mut harness, TIMELINE, None), None);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let missing = folder.path().join("missing").join("a.png");
    let said = export(&mut harness, TIMELINE, Some(missing)).expect("something is said");
    assert!(said.starts_with("No picture: cannot write ") && said.contains("missing"), "{said}");
    let said = answer(&mut harness, TIMELINE, Err("No file dialog could open".to_owned()));
    assert_eq!(said.as_deref(), Some("No file dialog could open"));
}

#[test]
fn a_notice_of_the_window_stays_until_it_is_dismissed() {
    let mut harness = harness();
    harness.state_mut().notice = Some("No file dialog could open".to_owned());
    harness.run_steps(3);
    assert!(harness.query_by_label("No file dialog could open").is_some());
    harness.get_by_label("Dismiss").click();
    harness.run_steps(3);
    assert!(harness.query_by_label("No file dialog could open").is_none());
}

#[test]
fn the_recording_itself_is_never_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // A recording may have any name.
    let path = folder.path().join("recording.png");
    std::fs::copy(sample("frag_oom.pickle"), &path).expect("the sample can be copied");
    let mut harness = Camera::default().harness([900.0, 600.0], Theme::Light);
    open_path(&mut harness, path.clone());
    let said = export(&mut harness, TIMELINE, Some(path.clone())).expect("something is said");
    assert!(said.contains("is the file that is read"), "{said}");
    let read = |path: &Path| std::fs::read(path).expect("the file");
    assert!(read(&path) == read(&sample("frag_oom.pickle")));
}

#[test]
fn a_name_without_the_extension_gets_it_but_replaces_nothing() {
    let mut harness = harness();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let named = folder.path().join("run.v2");
    let said = export(&mut harness, CURVES, Some(named.clone())).expect("something is said");
    assert!(said.ends_with("run.v2.png"), "{said}");
    let said = export(&mut harness, CURVES, Some(named)).expect("something is said");
    assert!(said.starts_with("No picture: cannot write ") && said.contains("run.v2.png"), "{said}");
}

#[test]
fn the_menu_offers_every_picture() {
    let mut harness = harness();
    harness.get_by_label("Export").click();
    harness.run_steps(2);
    for choice in export::EXPORT_CHOICES {
        assert!(harness.query_by_label(choice.name).is_some(), "{}", choice.name);
    }
}

#[test]
fn everything_can_be_exported() {
    let mut harness = harness();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut files: Vec<Vec<u8>> = Vec::new();
    for choice in 0..export::EXPORT_CHOICES.len() {
        let path = folder.path().join(choice.to_string());
        let said = export(&mut harness, choice, Some(path)).expect("something is said");
        let (_, written) = said.split_once(" written to ").expect("it is written");
        files.push(std::fs::read(written).expect("the picture"));
    }
    let page = String::from_utf8(files.pop().expect("there is a report")).expect("it is text");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("data:image/png;base64,"), "{page:.200}");
    let svg = files.pop().expect("there is an SVG");
    assert!(svg.starts_with(b"<?xml"));
    assert!(files.iter().all(|file| file.starts_with(b"\x89PNG")));
    for (i, file) in files.iter().enumerate() {
        assert!(!files[..i].contains(file), "two pictures are the same");
    }
}
