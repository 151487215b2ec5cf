//! The real application without a window.

mod attribution;
mod compare;
mod details;
mod export;
mod files;
mod filter;
mod fixes;
mod keyboard;
mod looks;
mod menu_keys;
mod menus;
mod notes;
mod opening;
mod paths;
mod range;
mod ranks;
mod report;
mod room;
mod segment_map;
mod segment_timeline;
mod soak;
mod stacks;
mod tables;
mod tasks;
mod timeline;
mod translated;

use super::*;
use crate::timeline::pictures::TimelinePictures;
use eframe::egui::{Key, Role, Theme};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use oomscope_model::Moment;
use std::time::{Duration, Instant};

/// Events of device 0 by hand: three allocations, one is freed, then an OOM. Protocol 0.
pub(super) fn snapshot_pickle() -> Vec<u8> {
    use serde_pickle::{HashableValue, Value};
    use std::collections::BTreeMap;
    let text = |text: &str| Value::String(text.to_owned());
    let dict = |entries: Vec<(&str, Value)>| {
        let entries = entries.into_iter().map(|(key, value)| (HashableValue::String(key.to_owned()), value));
        Value::Dict(entries.collect::<BTreeMap<_, _>>())
    };
    let frame = dict(vec![
        ("filename", text("/home/me/train.py")),
        ("line", Value::I64(55)),
        ("name", text("attention")),
    ]);
    let event = |action: &str, addr: i64, size: i64| {
        dict(vec![
            ("action", text(action)),
            ("addr", Value::I64(addr)),
            ("size", Value::I64(size)),
            ("stream", Value::I64(0)),
            ("time_us", Value::I64(1_700_000_000_000_000 + addr)),
            ("frames", Value::List(vec![frame.clone()])),
        ])
    };
    let block = |address: i64, size: i64, state: &str| {
        dict(vec![
            ("address", Value::I64(address)),
            ("size", Value::I64(size)),
            ("requested_size", Value::I64(size)),
            ("state", text(state)),
            ("frames", Value::List(vec![frame.clone()])),
        ])
    };
    let (base, mib) = (1 << 30, 1 << 20);
    let trace = vec![
        event("segment_alloc", base, 20 * mib),
        event("alloc", base, 8 * mib),
        event("alloc", base + 8 * mib, 4 * mib),
        event("alloc", base + 12 * mib, 2 * mib),
        event("free_requested", base + 8 * mib, 4 * mib),
        event("free_completed", base + 8 * mib, 4 * mib),
        event("oom", 3 * mib, 16 * mib),
    ];
    let segment = dict(vec![
        ("device", Value::I64(0)),
        ("address", Value::I64(base)),
        ("total_size", Value::I64(20 * mib)),
        ("stream", Value::I64(0)),
        ("segment_type", text("large")),
        (
            "blocks",
            Value::List(vec![
                block(base, 8 * mib, "active_allocated"),
                block(base + 8 * mib, 4 * mib, "inactive"),
                block(base + 12 * mib, 2 * mib, "active_allocated"),
                block(base + 14 * mib, 6 * mib, "inactive"),
            ]),
        ),
    ]);
    let snapshot = dict(vec![
        ("segments", Value::List(vec![segment])),
        ("device_traces", Value::List(vec![Value::List(trace)])),
    ]);
    serde_pickle::value_to_vec(&snapshot, serde_pickle::SerOptions::new())
        .expect("plain values can be pickled")
}

pub(super) fn harness() -> Harness<'static, App> {
    harness_with(WorkMode::Blocking)
}

pub(super) fn harness_with(mode: WorkMode) -> Harness<'static, App> {
    let mut harness = Harness::builder()
        .with_size([1280.0, 800.0])
        .with_theme(Theme::Dark)
        .build_eframe(|cc| App::new(&cc.egui_ctx, mode));
    harness.run_steps(2);
    harness
}

/// Open bytes as a file and wait until it is loaded or failed.
pub(super) fn open(harness: &mut Harness<'static, App>, bytes: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.pickle");
    std::fs::write(&path, bytes).expect("a temporary file");
    open_path(harness, path);
    folder
}

/// The wheel, turned by some points.
pub(super) fn wheel(points: f32) -> egui::Event {
    egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        source: egui::MouseWheelSource::Wheel,
        delta: egui::vec2(0.0, points),
        phase: egui::TouchPhase::Move,
        modifiers: egui::Modifiers::NONE,
    }
}

/// One of the recordings that come with the source.
pub(super) fn sample(name: &str) -> PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample_snapshots").join(name)
}

/// Open a file and wait until it is loaded or failed.
pub(super) fn open_path(harness: &mut Harness<'static, App>, path: PathBuf) {
    let ctx = harness.ctx.clone();
    harness.state_mut().open(Input::File(path), &ctx);
    let is_done = wait(harness, |harness| {
        let has_failed = harness.query_by_label("Try again").is_some();
        let documents = &mut harness.state_mut().documents;
        has_failed || documents.last_mut().is_some_and(|document| document.open_file().is_some())
    });
    assert!(is_done, "the file neither opens nor fails");
}

/// Run frames until something holds, and a few more; false when it does not come about.
pub(super) fn wait(
    harness: &mut Harness<'static, App>,
    mut holds: impl FnMut(&mut Harness<'static, App>) -> bool,
) -> bool {
    // Fixes are tried on all cores, which other tests may have at the time.
    let patience = Instant::now() + Duration::from_secs(90);
    while Instant::now() < patience {
        harness.step();
        if holds(harness) {
            harness.run_steps(3);
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// The device that is shown.
pub(super) fn device<'a>(harness: &'a mut Harness<'static, App>) -> &'a mut panes::OpenDevice {
    let app = harness.state_mut();
    let file = app.documents[app.current].open_file().expect("an open file");
    file.device().expect("a device")
}

fn cursor(harness: &mut Harness<'static, App>) -> Moment {
    device(harness).at.cursor
}

#[test]
fn an_empty_window_says_how_to_record() {
    let harness = harness();
    assert!(harness.query_by_label_contains("_dump_snapshot").is_some());
    assert!(harness.query_by_label("Open snapshots…").is_some());
}

#[test]
fn a_file_opens_on_its_oom_with_the_sites_there() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    assert_eq!(cursor(&mut harness), Moment(7));
    let verdict = "Out of memory: one request of 16.0 MiB";
    assert!(harness.query_by_label_contains(verdict).is_some());
    device(&mut harness).wanted_pane = Some(device::PaneId::Details);
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("train.py:55 attention 10.0 MiB").is_some());
    harness.get_by_label_contains("train.py:55 attention 10.0 MiB").click();
    harness.run_steps(3);
    assert!(harness.query_by_label("Everything with this stack").is_some());
    assert!(harness.query_by_label("10.0 MiB (10,485,760 bytes) in 2 blocks").is_some());
    harness.get_by_label("largest").click();
    harness.run_steps(3);
    assert!(harness.query_by_label("8.00 MiB allocation").is_some());
    assert!(harness.query_by_label("0x40000000").is_none());
    harness.get_by_label_contains("Unfold Address").click_accesskit();
    harness.run_steps(20);
    assert!(harness.query_by_label("0x40000000").is_some());
    harness.key_press(Key::Escape);
    harness.run_steps(3);
    assert!(harness.query_by_label("8.00 MiB allocation").is_none());
}

#[test]
fn keys_move_the_cursor_and_the_figures_follow() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    harness.key_press(Key::P);
    harness.run_steps(3);
    assert_eq!(cursor(&mut harness), Moment(4));
    assert!(harness.query_by_label_contains("active 14.0 MiB").is_some());
    harness.key_press(Key::ArrowLeft);
    harness.run_steps(3);
    assert_eq!(cursor(&mut harness), Moment(3));
    harness.key_press(Key::Home);
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("before event 0 of 7").is_some());
    harness.key_press(Key::O);
    harness.run_steps(3);
    assert_eq!(cursor(&mut harness), Moment(7));
}

#[test]
fn pictures_arrive_from_their_thread_until_the_latest_request_is_answered() {
    let mut harness = harness_with(WorkMode::Background);
    let _folder = open(&mut harness, &snapshot_pickle());
    let patience = Instant::now() + Duration::from_secs(20);
    let mut is_exact = false;
    while !is_exact && Instant::now() < patience {
        harness.step();
        std::thread::sleep(Duration::from_millis(5));
        let file = harness.state_mut().documents[0].open_file().expect("an open file");
        let device = file.device().expect("a device");
        let view = device.at.view;
        let pictures = device.states.timeline.pictures.as_ref();
        is_exact = pictures.and_then(TimelinePictures::shown).is_some_and(|shown| shown.picture.view == view);
    }
    assert!(is_exact);
}

#[test]
fn a_click_on_a_band_selects_its_allocation() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    let rect = harness.get_by_role_and_label(Role::Canvas, "Allocation timeline").rect();
    let at = egui::pos2(rect.right() - 12.0, rect.bottom() - 10.0);
    harness.drag_at(at);
    harness.run_steps(1);
    harness.drop_at(at);
    harness.run_steps(3);
    assert!(harness.query_by_label("8.00 MiB allocation").is_some());
    assert!(2 <= harness.query_all_by_label("train.py:55 attention").count());
}

#[test]
fn a_damaged_file_opens_with_a_banner() {
    let mut harness = harness();
    let whole = snapshot_pickle();
    let _folder = open(&mut harness, &whole[..whole.len() * 9 / 10]);
    assert!(harness.query_by_label_contains("The file is damaged at byte").is_some());
}

#[test]
fn what_is_no_snapshot_is_refused_in_its_tab() {
    let mut harness = harness();
    let _folder = open(&mut harness, b"PK\x03\x04 not a snapshot");
    assert!(harness.query_by_label("run.pickle cannot be opened").is_some());
    assert!(harness.query_by_label_contains("What to try: record one with").is_some());
    harness.get_by_label("Close").click();
    harness.run_steps(3);
    assert!(harness.query_by_label("Open snapshots…").is_some());
}
