//! The segment timeline, and the timeline's segments, in the real application.

use crate::device::PaneId;
use crate::device::Selection;
use crate::device::TimelineMode;
use crate::tests::{device, harness, harness_with, open, open_path, sample, snapshot_pickle, wait};
use crate::work::worker::WorkMode;
use crate::*;
use eframe::egui::{Event, Modifiers, MouseWheelUnit, Pos2, Rect, Role, pos2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use oomscope_model::{AllocId, Moment};

/// The segment of the sample file, as its row is named.
const ROW: &str = "Segment 0x40000000, 20.0 MiB, stream 0, reserved by train.py:55 attention";

/// The sample file with the segment timeline in front.
fn opened() -> (Harness<'static, App>, tempfile::TempDir) {
    let mut harness = harness();
    let folder = open(&mut harness, &snapshot_pickle());
    device(&mut harness).wanted_pane = Some(PaneId::SegmentTimeline);
    harness.run_steps(4);
    (harness, folder)
}

fn canvas(harness: &Harness<'_, App>, name: &str) -> Rect {
    harness.get_by_role_and_label(Role::Canvas, name).rect()
}

/// The place of a moment and of a share of the only row, counted from its lowest address.
fn place(harness: &mut Harness<'static, App>, moment: f64, up: f32) -> Pos2 {
    let row = harness.get_by_label(ROW).rect();
    let rect = canvas(harness, "Segment timeline");
    let view = device(harness).at.view;
    let x = view.x_from_position(moment) as f32;
    pos2(rect.left() + x * rect.width(), row.bottom() - up * row.height())
}

fn click(harness: &mut Harness<'static, App>, at: Pos2) {
    harness.drag_at(at);
    harness.run_steps(1);
    harness.drop_at(at);
    harness.run_steps(3);
}

fn turn_wheel(harness: &mut Harness<'static, App>, at: Pos2, points: f32, modifiers: Modifiers) {
    harness.hover_at(at);
    harness.run_steps(1);
    harness.event(Event::ModifiersChanged(modifiers));
    harness.event(Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: vec2(0.0, points),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers,
    });
    harness.run_steps(12);
    harness.event(Event::ModifiersChanged(Modifiers::NONE));
    harness.run_steps(1);
}

#[test]
fn a_click_on_a_bar_selects_its_allocation_while_it_is_there() {
    let (mut harness, _folder) = opened();
    // 8 MiB of 20 MiB, from the state after the second event on.
    let at = place(&mut harness, 4.5, 0.2);
    click(&mut harness, at);
    assert_eq!(device(&mut harness).at.selection(), Selection::Allocation(AllocId(0)));
    assert_eq!(device(&mut harness).at.cursor, Moment(4));
    assert!(harness.query_by_label("8.00 MiB allocation").is_some());
    // The second block: 4 MiB above it, until the sixth event.
    let at = place(&mut harness, 3.5, 0.5);
    click(&mut harness, at);
    assert_eq!(device(&mut harness).at.selection(), Selection::Allocation(AllocId(1)));
}

#[test]
fn a_click_on_a_hole_selects_its_segment() {
    let (mut harness, _folder) = opened();
    let at = place(&mut harness, 3.5, 0.9);
    click(&mut harness, at);
    assert_eq!(device(&mut harness).at.selection(), Selection::Segment { addr: 1 << 30 });
    let before = place(&mut harness, 0.5, 0.9);
    click(&mut harness, before);
    assert_eq!(device(&mut harness).at.selection(), Selection::None);
}

#[test]
fn what_is_under_the_pointer_is_named() {
    let (mut harness, _folder) = opened();
    let hover = |harness: &mut Harness<'static, App>, at| {
        harness.hover_at(at);
        harness.run_steps(4);
    };
    let at = place(&mut harness, 3.5, 0.5);
    hover(&mut harness, at);
    assert!(harness.query_by_label_contains("4.00 MiB (4,194,304 bytes)").is_some());
    assert!(harness.query_by_label("0x40800000 · offset 8.00 MiB").is_some());
    let at = place(&mut harness, 6.5, 0.5);
    hover(&mut harness, at);
    assert!(harness.query_by_label("4.00 MiB (4,194,304 bytes) not in use").is_some());
    let at = harness.get_by_label(ROW).rect().center();
    hover(&mut harness, at);
    assert!(harness.query_by_label_contains("Segment at 0x40000000").is_some());
    assert!(harness.query_by_label("14.0 MiB (14,680,064 bytes) active at most").is_some());
    assert!(harness.query_by_label("1 reservation, 3 allocations").is_some());
}

#[test]
fn both_timelines_show_the_same_time() {
    let (mut harness, _folder) = opened();
    // Otherwise the height would follow what is in view.
    device(&mut harness).at.fits_height = false;
    let full = device(&mut harness).at.view;
    let rect = canvas(&harness, "Segment timeline");
    let above = canvas(&harness, "Allocation timeline");
    assert_eq!((rect.left(), rect.right()), (above.left(), above.right()));
    turn_wheel(&mut harness, rect.center(), 120.0, Modifiers::NONE);
    let near = device(&mut harness).at.view;
    assert!(near.span() < full.span() * 0.9, "{} of {}", near.span(), full.span());
    assert_eq!((near.y0, near.y1), (full.y0, full.y1));
    turn_wheel(&mut harness, above.center(), -200.0, Modifiers::NONE);
    assert!((device(&mut harness).at.view.span() - full.span()).abs() < 1e-9);
}

#[test]
fn rows_expand_and_become_thin_again() {
    let mut harness = harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    device(&mut harness).wanted_pane = Some(PaneId::SegmentTimeline);
    harness.run_steps(4);
    let labels = |harness: &Harness<'_, App>| -> Vec<String> {
        let rows = harness.query_all_by_label_contains("Segment 0x");
        rows.filter_map(|row| row.accesskit_node().label()).collect()
    };
    let first = labels(&harness)[0].clone();
    let height = |harness: &Harness<'_, App>| harness.get_by_label(&first).rect().height();
    let thin = height(&harness);
    harness.get_by_label(&first).click();
    harness.run_steps(3);
    assert!(thin * 4.0 < height(&harness));
    assert!(matches!(device(&mut harness).at.selection(), Selection::Segment { .. }));
    harness.get_by_label(&first).click();
    harness.run_steps(3);
    assert_eq!(height(&harness), thin);
    let seen = labels(&harness).len();
    harness.get_by_label("Expand all").click();
    harness.run_steps(3);
    assert!(labels(&harness).len() < seen);
}

#[test]
fn a_selection_made_elsewhere_comes_into_view() {
    let mut harness = harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    device(&mut harness).wanted_pane = Some(PaneId::SegmentTimeline);
    harness.run_steps(4);
    let rect = canvas(&harness, "Segment timeline");
    turn_wheel(&mut harness, rect.center(), -4000.0, Modifiers::SHIFT);
    let scrolled = device(&mut harness).states.segment_timeline.scroll;
    assert!(0.0 < scrolled);
    // The segment with the highest offset in the list of the largest: the very first one.
    let largest =
        device(&mut harness).recording.timeline().ranges.all().iter().max_by_key(|range| range.size).copied();
    let addr = largest.expect("there are segments").addr;
    device(&mut harness).at.select(Selection::Segment { addr });
    harness.run_steps(3);
    assert!(device(&mut harness).states.segment_timeline.scroll < scrolled);
}

#[test]
fn the_order_of_rows_is_chosen() {
    let mut harness = harness();
    open_path(&mut harness, sample("streams.pickle"));
    device(&mut harness).wanted_pane = Some(PaneId::SegmentTimeline);
    harness.run_steps(4);
    let addresses = |harness: &Harness<'_, App>| -> Vec<String> {
        let rows = harness.query_all_by_label_contains("Segment 0x");
        rows.filter_map(|row| row.accesskit_node().label()).collect()
    };
    let by_size = addresses(&harness);
    harness.get_by_value("Largest first").click();
    harness.run_steps(3);
    harness.get_by_label("By address").click();
    harness.run_steps(3);
    let by_address = addresses(&harness);
    assert_ne!(by_size, by_address);
    assert!(by_address.is_sorted());
}

#[test]
fn the_timeline_stacks_segments_when_asked() {
    let (mut harness, _folder) = opened();
    // The tab below has the same name.
    let top = canvas(&harness, "Allocation timeline").top();
    let mode = harness.query_all_by_label("Reserved").find(|node| node.rect().bottom() <= top);
    mode.expect("a button above the timeline").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.timeline_mode, TimelineMode::Segments);
    let rect = canvas(&harness, "Allocation timeline");
    let at = pos2(rect.right() - 12.0, rect.bottom() - 10.0);
    harness.hover_at(at);
    harness.run_steps(4);
    assert!(harness.query_by_label("20.0 MiB (20,971,520 bytes)").is_some());
    assert!(harness.query_by_label("stream 0 · reserved by event 0 · still there at the end").is_some());
    click(&mut harness, at);
    assert_eq!(device(&mut harness).at.selection(), Selection::Segment { addr: 1 << 30 });
    harness.get_by_label("Active").click();
    harness.run_steps(3);
    click(&mut harness, at);
    assert_eq!(device(&mut harness).at.selection(), Selection::Allocation(AllocId(0)));
}

#[test]
fn pictures_of_segments_arrive_from_their_thread() {
    let mut harness = harness_with(WorkMode::Background);
    let _folder = open(&mut harness, &snapshot_pickle());
    device(&mut harness).wanted_pane = Some(PaneId::SegmentTimeline);
    wait(&mut harness, |harness| harness.query_by_label(ROW).is_some());
    let at = place(&mut harness, 4.5, 0.2);
    wait(&mut harness, |harness| {
        click(harness, at);
        device(harness).at.selection() == Selection::Allocation(AllocId(0))
    });
    assert_eq!(device(&mut harness).at.selection(), Selection::Allocation(AllocId(0)));
}

#[test]
fn a_recording_without_history_shows_its_segments_large_and_nothing_over_time() {
    let mut harness = harness();
    open_path(&mut harness, sample("history_state_only.pickle"));
    harness.run_steps(4);
    let map = harness.get_by_role_and_label(Role::Canvas, "Segment map").rect();
    assert!(400.0 < map.height(), "{map:?}");
    for pane in ["Segment timeline", "Events", "Iterations", "Holes"] {
        assert!(harness.query_by_label(pane).is_none(), "{pane}");
    }
    assert!(harness.query_by_role_and_label(Role::Canvas, "Allocation timeline").is_none());
}

#[test]
fn without_segments_the_panel_says_so() {
    // One allocation, at an address of no segment.
    let bytes = b"(dVsegments\n(lsVdevice_traces\n(l(l(dVaction\nValloc\nsVaddr\nI512\nsVsize\nI64\nsVstream\nI0\nsVframes\n(lsaas.";
    let mut harness = harness();
    let _folder = open(&mut harness, bytes);
    device(&mut harness).wanted_pane = Some(PaneId::SegmentTimeline);
    harness.run_steps(4);
    assert!(harness.query_by_label("This recording has no segments.").is_some());
}
