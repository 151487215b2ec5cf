//! The segment map in the real application.

use crate::device::PaneId;
use crate::device::Selection;
use crate::tests::{device, harness, open, open_path, sample, snapshot_pickle, wheel};
use crate::*;
use eframe::egui::{Key, Pos2, Rect, Role};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use oomscope_analysis::SegmentIndex;
use oomscope_analysis::segment_state::{Figures, RequestFit};
use oomscope_model::{AllocId, Moment};
use oomscope_units as units;

/// A recording with the segment map in front.
fn on_sample(name: &str) -> Harness<'static, App> {
    let mut harness = harness();
    open_path(&mut harness, sample(name));
    make_room(&mut harness);
    show(&mut harness);
    harness
}

/// Make the window high enough for the figures above the map.
fn make_room(harness: &mut Harness<'static, App>) {
    harness.set_size(eframe::egui::vec2(1280.0, 1000.0));
    harness.run_steps(2);
}

fn show(harness: &mut Harness<'static, App>) {
    device(harness).wanted_pane = Some(PaneId::Segments);
    harness.run_steps(4);
}

/// The model's figures at the cursor.
fn truth(harness: &mut Harness<'static, App>) -> (Figures, Option<RequestFit>) {
    let device = device(harness);
    let (recording, cursor) = (&device.recording, device.at.cursor);
    let index = SegmentIndex::new(recording);
    let state = index.at(recording, cursor);
    let oom = recording.ooms.iter().find(|oom| Moment::after(oom.event) == cursor);
    (state.total, oom.map(|oom| state.fit(&index, recording, oom)))
}

/// The panel's figures are those of the model.
fn check_figures(harness: &mut Harness<'static, App>) -> Figures {
    let (total, _) = truth(harness);
    let free = units::percent(total.hole_bytes, total.reserved_bytes);
    for label in [
        format!("Reserved {}", units::bytes(total.reserved_bytes)),
        format!("Allocated {}", units::bytes(total.allocated_bytes)),
        format!("Rounding {}", units::bytes(total.rounding_bytes())),
        format!("Free {} ({free})", units::bytes(total.hole_bytes)),
        format!("Largest hole {}", units::bytes(total.largest_hole_bytes)),
    ] {
        assert!(harness.query_by_label(&label).is_some(), "no {label:?}");
    }
    total
}

fn map_rect(harness: &Harness<'_, App>) -> Rect {
    harness.get_by_role_and_label(Role::Canvas, "Segment map").rect()
}

fn click(harness: &mut Harness<'static, App>, at: Pos2) {
    harness.drag_at(at);
    harness.run_steps(1);
    harness.drop_at(at);
    harness.run_steps(3);
}

#[test]
fn at_an_oom_the_largest_hole_stands_beside_the_request() {
    let mut harness = on_sample("frag_oom.pickle");
    let at_oom = check_figures(&mut harness);
    let (_, fit) = truth(&mut harness);
    let fit = fit.expect("the cursor is on the OOM");
    assert_eq!(fit.largest_bytes, at_oom.largest_hole_bytes);
    let sentence = format!(
        "Did not fit: {} free in {} holes of its pool and stream, each too small",
        units::bytes(fit.hole_bytes),
        fit.holes
    );
    assert!(harness.query_by_label(&sentence).is_some());
    harness.key_press(Key::P);
    harness.run_steps(3);
    let at_peak = check_figures(&mut harness);
    assert_ne!(at_peak, at_oom);
    assert!(harness.query_by_label_contains("Did not fit").is_none());
}

#[test]
fn figures_follow_the_cursor_in_every_kind_of_recording() {
    for name in ["pools.pickle", "streams.pickle", "gpt_oom_expandable.pickle", "pinned_host.pickle"] {
        let mut harness = on_sample(name);
        let last = device(&mut harness).recording.timeline().moments() as u32 - 1;
        for moment in [0, last / 3, last / 2, last] {
            device(&mut harness).at.go_to(Moment(moment));
            harness.run_steps(3);
            check_figures(&mut harness);
        }
    }
}

#[test]
fn a_click_on_a_block_selects_it_and_on_a_hole_its_segment() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    show(&mut harness);
    // One segment of 20 MiB on the first line: 8 MiB in use, 4 MiB free, 2 MiB in use, 6 MiB free.
    let map = map_rect(&harness);
    let y = map.top() + 34.0;
    click(&mut harness, Pos2::new(map.left() + 4.0, y));
    assert_eq!(device(&mut harness).at.selection(), Selection::Allocation(AllocId(0)));
    assert!(harness.query_by_label("8.00 MiB allocation").is_some());
    let whole = line_width(&mut harness);
    click(&mut harness, Pos2::new(map.left() + whole * 10.0 / 20.0, y));
    assert_eq!(device(&mut harness).at.selection(), Selection::Segment { addr: 1 << 30 });
    assert!(harness.query_by_label_contains("50.0 % in use by 2 blocks, 10.0 MiB free in 2 holes").is_some());
    assert_eq!(map_rect(&harness), map, "the map stays under the pointer");
    assert!(harness.query_by_label("20.0 MiB segment").is_some());
    harness.get_by_role_and_label(Role::Link, "2.00 MiB").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.selection(), Selection::Allocation(AllocId(2)));
}

/// The length of the only segment, in points.
fn line_width(harness: &mut Harness<'static, App>) -> f32 {
    let width = map_rect(harness).width();
    let layout = device(harness).states.segments.layout().expect("a layout");
    ((20 << 20) as f64 / layout.sheet.bytes_per_px).min(f64::from(width)) as f32
}

#[test]
fn mostly_empty_segments_are_visited_one_after_another() {
    let mut harness = on_sample("frag_oom.pickle");
    let mut seen = Vec::new();
    for _ in 0..4 {
        harness.get_by_label("3 mostly empty segments").click();
        harness.run_steps(3);
        let Selection::Segment { addr } = device(&mut harness).at.selection() else {
            panic!("no segment is selected")
        };
        seen.push(addr);
    }
    assert_eq!(seen[0], seen[3]);
    assert_eq!(seen.iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
}

#[test]
fn a_recording_that_is_cut_off_says_that_something_is_missing() {
    let mut harness = harness();
    let whole = snapshot_pickle();
    let _folder = open(&mut harness, &whole[..whole.len() * 9 / 10]);
    make_room(&mut harness);
    show(&mut harness);
    let is_trace_only = device(&mut harness).recording.timeline().anchor == oomscope_model::Anchor::TraceOnly;
    assert_eq!(harness.query_by_label("Incomplete").is_some(), is_trace_only);
    assert!(1 < harness.query_all_by_label_contains("Reserved").count(), "a figure beside the tool");
}

#[test]
fn the_wheel_zooms_and_fit_goes_back() {
    let mut harness = on_sample("gpt_oom_forward.pickle");
    assert!(harness.query_by_label("Fit").is_none());
    let at = map_rect(&harness).center();
    harness.hover_at(at);
    harness.event(wheel(200.0));
    harness.run_steps(20);
    assert!(device(&mut harness).states.segments.is_zoomed());
    harness.get_by_label("Fit").click();
    harness.run_steps(3);
    assert!(!device(&mut harness).states.segments.is_zoomed());
}
