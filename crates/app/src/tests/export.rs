//! Exporting from the real application: its panel, its files, the clipboard.

use crate::device::PaneId;
use crate::export::EXPORT_CHOICES;
use crate::screenshots::Camera;
use crate::tests::{device, open_path, sample, wait, wheel};
use crate::*;
use eframe::egui::{Key, Modifiers, Role, Theme};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use oomscope_draw::segment_map::MapOrder;
use oomscope_export::save::Existing;
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

/// Export to a path, replacing what is there, and wait for what the status bar says.
fn export(harness: &mut Harness<'static, App>, choice: usize, path: &Path) -> String {
    order(harness, choice, Target::File(path.to_owned(), Existing::Replace), false)
}

fn order(harness: &mut Harness<'static, App>, choice: usize, target: Target, redacts: bool) -> String {
    let ctx = harness.ctx.clone();
    let order = ExportOrder { choice: EXPORT_CHOICES[choice], target, redacts };
    harness.state_mut().export(order, &ctx);
    finish(harness)
}

/// Wait for the end of an export, and for what is said of it.
fn finish(harness: &mut Harness<'static, App>) -> String {
    let patience = Instant::now() + Duration::from_secs(30);
    while Instant::now() < patience && harness.state_mut().exporter.is_busy() {
        harness.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!harness.state_mut().exporter.is_busy(), "the export does not end");
    harness.run_steps(2);
    let app = harness.state_mut();
    let file = app.documents[0].open_file().expect("an open file");
    let notice = file.device().expect("a device").notice.take();
    notice.or(app.notice.take()).expect("something is said")
}

/// Show the panel for a choice, with another path in its field.
fn panel_with(harness: &mut Harness<'static, App>, choice: usize, path: &Path) {
    harness.state_mut().commands.push(Command::Export(EXPORT_CHOICES[choice]));
    harness.run_steps(3);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    harness.run_steps(1);
    harness.event(egui::Event::Text(path.display().to_string()));
    harness.run_steps(2);
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
    let said = export(&mut harness, TIMELINE, &first);
    assert_eq!(said, format!("Picture written to {}", first.display()));
    assert_eq!(size_px(&first), [1800, 1200]);
    let file = harness.state_mut().documents[0].open_file().expect("an open file");
    file.device().expect("a device").at.zoom(4.0);
    export(&mut harness, TIMELINE, &second);
    let read = |path: &Path| std::fs::read(path).expect("the picture");
    assert!(read(&first) != read(&second));
    export(&mut harness, TIMELINE, &first);
    assert!(read(&first) == read(&second));
    export(&mut harness, CURVES, &first);
    assert!(read(&first) != read(&second));
}

#[test]
fn a_picture_shows_the_view_as_it_stands() {
    let mut harness = crate::tests::harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.png");
    let mut seen: Vec<Vec<u8>> = Vec::new();
    let mut picture = |harness: &mut Harness<'static, App>, choice| {
        export(harness, choice, &path);
        let file = std::fs::read(&path).expect("the picture");
        assert!(!seen.contains(&file), "the picture does not show what was changed");
        seen.push(file);
    };
    device(&mut harness).wanted_pane = Some(PaneId::Segments);
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
fn a_failure_is_told() {
    let mut harness = harness();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let missing = folder.path().join("missing").join("a.png");
    let said = export(&mut harness, TIMELINE, &missing);
    assert!(said.starts_with("No picture: cannot write ") && said.contains("missing"), "{said}");
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
fn a_defect_behind_the_window_is_said_in_it() {
    let camera = Camera::default();
    let mut harness = camera.harness([900.0, 600.0], Theme::Dark);
    open_path(&mut harness, sample("frag_oom.pickle"));
    defect::report(&harness.ctx, "simulation", &"index out of bounds: the len is 3 but the index is 3");
    harness.run_steps(3);
    let said = "Internal error in simulation: index out of bounds: the len is 3 but the index is 3. This answer is missing; \
                please report it together with the file.";
    assert!(harness.query_by_label(said).is_some());
    camera.save(&harness, "defect");
}

#[test]
fn the_recording_itself_is_never_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // A recording may have any name.
    let path = folder.path().join("recording.png");
    std::fs::copy(sample("frag_oom.pickle"), &path).expect("the sample can be copied");
    let mut harness = Camera::default().harness([900.0, 600.0], Theme::Light);
    open_path(&mut harness, path.clone());
    let said = export(&mut harness, TIMELINE, &path);
    assert!(said.contains("is the file that is read"), "{said}");
    let read = |path: &Path| std::fs::read(path).expect("the file");
    assert!(read(&path) == read(&sample("frag_oom.pickle")));
}

#[test]
fn the_panel_writes_and_never_replaces_without_asking() {
    let mut harness = harness();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.v2");
    // The extension may be left out.
    let written = folder.path().join("run.v2.png");
    panel_with(&mut harness, CURVES, &path);
    harness.key_press(Key::Enter);
    harness.run_steps(3);
    let said = finish(&mut harness);
    assert_eq!(said, format!("Picture written to {}", written.display()));
    assert!(!harness.state().export_panel.is_shown(), "it is done");
    panel_with(&mut harness, CURVES, &written);
    assert!(harness.query_by_label_contains("run.v2.png exists").is_some());
    let read = |path: &Path| std::fs::read(path).expect("the picture");
    let first = read(&written);

    panel_with(&mut harness, TIMELINE, &path);
    harness.key_press(Key::Enter);
    harness.run_steps(3);
    assert!(finish(&mut harness).contains("exists and was kept"));
    assert!(read(&written) == first, "it was not asked");
    assert!(harness.query_by_label("run.v2.png exists. Replace it?").is_some());
    harness.get_by_label("Write run.v2-2.png").click();
    harness.run_steps(3);
    finish(&mut harness);
    assert!(read(&written) == first);
    assert!(read(&folder.path().join("run.v2-2.png")) != first);

    panel_with(&mut harness, TIMELINE, &path);
    harness.get_by_label("Write").click();
    harness.run_steps(3);
    finish(&mut harness);
    harness.get_by_label("Replace").click();
    harness.run_steps(3);
    finish(&mut harness);
    assert!(read(&written) == read(&folder.path().join("run.v2-2.png")));
    panel_with(&mut harness, TIMELINE, &path);
    harness.key_press(Key::Escape);
    harness.run_steps(3);
    assert!(!harness.state().export_panel.is_shown(), "Esc closes the panel");
}

#[test]
fn an_export_is_offered_beside_the_recording() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.pickle.gz");
    std::fs::copy(sample("frag_oom.pickle"), &path).expect("the sample can be copied");
    let mut harness = Camera::default().harness([900.0, 600.0], Theme::Light);
    open_path(&mut harness, path);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::E);
    harness.run_steps(3);
    let offered = folder.path().join("run-timeline.png");
    assert_eq!(harness.state().export_panel.target(), Some((offered.clone(), "png")));
    harness.key_press(Key::Enter);
    harness.run_steps(3);
    finish(&mut harness);
    assert!(offered.is_file());
}

#[test]
fn a_picture_is_copied_as_it_would_be_written() {
    let mut harness = harness();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.png");
    export(&mut harness, SEGMENTS, &path);
    let ctx = harness.ctx.clone();
    let order = ExportOrder { choice: EXPORT_CHOICES[SEGMENTS], target: Target::Clipboard, redacts: false };
    harness.state_mut().export(order, &ctx);
    let mut copied = None;
    wait(&mut harness, |harness| {
        let commands = &harness.output().platform_output.commands;
        copied = commands.iter().find_map(|command| match command {
            egui::OutputCommand::CopyImage(image) => Some(image.clone()),
            _ => None,
        });
        copied.is_some()
    });
    let image = copied.expect("a picture");
    assert_eq!(finish(&mut harness), "Picture copied to the clipboard");
    let mut reader =
        png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&path).expect("the picture")))
            .read_info()
            .expect("a PNG file");
    let mut rgb = vec![0; reader.output_buffer_size().expect("a size")];
    reader.next_frame(&mut rgb).expect("pixels");
    let same = image.pixels.iter().zip(rgb.chunks(3)).all(|(copied, rgb)| copied.to_array()[..3] == *rgb);
    assert!(same && image.pixels.len() * 3 == rgb.len());
}

#[test]
fn what_is_redacted_names_no_folders() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("secret").join("run.pickle");
    std::fs::create_dir(folder.path().join("secret")).expect("a temporary folder");
    std::fs::write(&path, crate::tests::snapshot_pickle()).expect("a temporary file");
    let mut harness = Camera::default().harness([900.0, 600.0], Theme::Light);
    open_path(&mut harness, path);
    let report = EXPORT_CHOICES.len() - 1;
    for (redacts, has) in [(false, true), (true, false)] {
        let target = folder.path().join("report.html");
        order(&mut harness, report, Target::File(target.clone(), Existing::Replace), redacts);
        let page = std::fs::read_to_string(target).expect("the report");
        assert_eq!([page.contains("secret"), page.contains("/home/me")], [has; 2], "{redacts}");
        assert!(page.contains("train.py:55"));
    }
}

#[test]
fn the_menu_offers_every_picture() {
    let mut harness = harness();
    harness.get_by_label("Export").click();
    harness.run_steps(2);
    for choice in EXPORT_CHOICES {
        assert!(harness.query_by_label(choice.name).is_some(), "{}", choice.name);
    }
}

#[test]
fn everything_can_be_exported() {
    let mut harness = harness();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut files: Vec<Vec<u8>> = Vec::new();
    for choice in 0..EXPORT_CHOICES.len() {
        let said = export(&mut harness, choice, &folder.path().join(choice.to_string()));
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
