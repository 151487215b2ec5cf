//! The timeline in the real application.

use crate::device::PaneId;
use crate::device::Selection;
use crate::device::TimelineMode;
use crate::tests::{device, harness, open, open_path, sample, snapshot_pickle, wheel};
use crate::*;
use eframe::egui::{Key, Pos2, Role, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use oomscope_analysis::{Basis, Category};
use oomscope_draw::{Axis, Pixel};
use oomscope_model::{AllocId, Bytes};
use oomscope_units as units;

/// Leave the pointer where it is until the tooltip is there.
fn hover(harness: &mut Harness<'static, App>, at: Pos2) {
    harness.hover_at(at);
    harness.run_steps(4);
}

#[test]
fn all_that_is_marked_is_said_to_screen_readers() {
    let mut harness = harness();
    open_path(&mut harness, sample("leak_eval_losses.pickle"));
    harness.run_steps(4);
    let words = |harness: &Harness<'static, App>| {
        let picture = harness.get_by_role_and_label(Role::Canvas, "Allocation timeline");
        picture.value().expect("words")
    };
    let said = words(&harness);
    let marks = [
        "11.5 GiB kept of train.py:105, 2 calls",
        "5.75 GiB, iteration 0",
        "projected, 24.7 GiB",
        "with the fix, 13.2 GiB requested",
        "capacity 23.6 GiB",
        "OOM 2.30 GiB",
        "peak 20.1 GiB",
    ];
    for mark in marks {
        assert_eq!(said.matches(mark).count(), 1, "{mark} is not said once in: {said}");
    }
    for (pane, picture, mark) in
        [(PaneId::Segments, "Segment map", marks[0]), (PaneId::Stacks, "Flame graph", "marked: ")]
    {
        device(&mut harness).wanted_pane = Some(pane);
        harness.run_steps(4);
        let said = harness.get_by_role_and_label(Role::Canvas, picture).value().expect("words");
        assert!(said.contains(mark), "{picture}: {said}");
    }
    harness.key_press(Key::V);
    harness.run_steps(4);
    assert!(!words(&harness).contains(marks[0]), "{}", words(&harness));
}

#[test]
fn the_wall_clock_is_in_the_tooltip() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    // Every event is some seconds after 2023-11-14 22:13:20 UTC.
    let picture = harness.get_by_role_and_label(Role::Canvas, "Allocation timeline").rect();
    hover(&mut harness, Pos2::new(picture.right() - 60.0, picture.bottom() - 20.0));
    assert!(harness.query_by_label_contains("2023-11-14 22:").is_some(), "no wall clock at a block");
    hover(&mut harness, Pos2::new(picture.center().x, picture.bottom() + 10.0));
    assert!(harness.query_by_label_contains("2023-11-14 22:").is_some(), "no wall clock at the axis");
}

#[test]
fn blocks_too_thin_to_be_seen_are_named_by_their_category() {
    let mut harness = harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    harness.key_press(egui::Key::V);
    harness.run_steps(4);
    let rect = harness.get_by_role_and_label(Role::Canvas, "Allocation timeline").rect();
    let device = device(&mut harness);
    let (column, row, share) = {
        let raster = &device.states.timeline.pictures.as_ref().unwrap().shown().unwrap().picture.raster;
        let [width, height] = raster.size_px;
        let share = |(x, y)| match raster.pixel(x, y) {
            Pixel::Share(share) => Some((x, y, share)),
            _ => None,
        };
        let mut places = (width / 2..width).flat_map(|x| (0..height).map(move |y| (x, y)));
        places.find_map(share).expect("parameters are thin")
    };
    let shown = device.states.timeline.pictures.as_ref().unwrap().shown().unwrap();
    let (raster, timeline) = (&shown.picture.raster, device.recording.timeline());
    let moment = raster.moments[column].unwrap();
    let categories = &device.derived.attribution().expect("it is there").categories;
    let is_same = |id: &AllocId| {
        let category = Category::ALL[usize::from(share.class.0) / 2];
        let is_inferred = !share.class.0.is_multiple_of(2);
        categories.get(*id) == category && (categories.basis(*id) == Basis::Inferred) == is_inferred
    };
    let live: Vec<AllocId> = timeline.lifetimes.live_at(moment).filter(is_same).collect();
    let bytes: Bytes = live.iter().map(|&id| timeline.size(id)).sum();
    let expected = format!("{} in {}", units::bytes(bytes), units::counted(live.len(), "block"));
    let part = |at: usize, of: usize| (at as f32 + 0.5) / of as f32;
    let at = rect.min + rect.size() * vec2(part(column, raster.size_px[0]), part(row, raster.size_px[1]));
    hover(&mut harness, at);
    assert!(harness.query_by_label_contains(&expected).is_some(), "{expected} at {at:?}");
    assert!(harness.query_by_label_contains("the largest ").is_some());
}

#[test]
fn the_legend_tells_only_what_the_bands_show() {
    let mut harness = harness();
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    harness.run_steps(3);
    harness.get_by_label("activations 21.2 GiB").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.query, "category:activation");
    harness.get_by_label("activations 21.2 GiB").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.query, "");
    // Reserved memory serves many categories: it is told apart by stacks.
    device(&mut harness).at.timeline_mode = TimelineMode::Segments;
    harness.run_steps(3);
    let has_colors = device(&mut harness).states.legend.latest().all.iter().any(|row| row.color.is_some());
    assert!(!has_colors);
}

#[test]
fn holes_lie_below_their_moments_of_the_timeline_on_both_axes() {
    let mut harness = harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    device(&mut harness).wanted_pane = Some(PaneId::Holes);
    for (axis, zoom) in [(Axis::Event, 1.0), (Axis::Time, 1.0), (Axis::Event, 4.0)] {
        device(&mut harness).at.set_axis(axis);
        device(&mut harness).at.fit();
        device(&mut harness).at.zoom(zoom);
        harness.run_steps(4);
        let above = harness.get_by_role_and_label(Role::Canvas, "Allocation timeline").rect();
        let plot = harness.get_by_role_and_label(Role::Canvas, "Holes over time").rect();
        assert!((above.left() - plot.left()).abs() < 0.6 && (above.right() - plot.right()).abs() < 0.6);
        for part in [0.25, 0.5, 0.75] {
            let at = Pos2::new(plot.left() + plot.width() * part, plot.center().y);
            harness.drag_at(at);
            harness.run_steps(1);
            harness.drop_at(at);
            harness.run_steps(3);
            let device = device(&mut harness);
            let view = device.at.view;
            let (start, end) = view.on(device.recording.timeline()).positions_of(device.at.cursor);
            let (wanted, near) = (view.position_from_x(f64::from(part)), view.span() * 0.01);
            assert!(
                start - near <= wanted && wanted <= end + near,
                "{axis:?}: {start} to {end}, not {wanted}"
            );
        }
        let device = device(&mut harness);
        let samples = device.states.holes.sampled().cloned().expect("holes");
        assert!(samples.len() > 2);
        for holes in samples.iter() {
            let unused =
                device.recording.reserved.at(holes.moment) - device.recording.active.at(holes.moment);
            assert!(holes.largest_bytes <= holes.free_bytes && holes.free_bytes <= unused, "{holes:?}");
        }
    }
}

#[test]
fn the_height_follows_what_is_in_view_until_the_user_zooms_vertically() {
    let mut harness = harness();
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    harness.run_steps(3);
    let full = device(&mut harness).at.full;
    assert_eq!(device(&mut harness).at.view, full);
    // Little is in use at the start, and the OOM is at the end.
    device(&mut harness).at.show(full.of_range(0.0, 100.0, &full));
    harness.run_steps(3);
    let low = device(&mut harness).at.view;
    assert!(low.height_bytes() < full.height_bytes() / 4.0, "{low:?}");
    harness.key_press(Key::Y);
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.view.height_bytes(), full.height_bytes());
    harness.key_press(Key::Y);
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.view, low);
    let picture = harness.get_by_role_and_label(Role::Canvas, "Allocation timeline").rect();
    harness.hover_at(picture.center());
    harness.event(egui::Event::ModifiersChanged(egui::Modifiers::SHIFT));
    harness.event(wheel(80.0));
    harness.run_steps(1);
    harness.event(egui::Event::ModifiersChanged(egui::Modifiers::NONE));
    harness.run_steps(8);
    let zoomed = device(&mut harness).at.view;
    assert!(zoomed.height_bytes() < low.height_bytes() * 0.9, "{zoomed:?}");
    harness.key_press(Key::F);
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.view, full);
    device(&mut harness).at.back();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.view, zoomed);
}

#[test]
fn escape_closes_the_help_and_leaves_the_selection() {
    let mut harness = harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    let selection = Selection::Allocation(AllocId(0));
    device(&mut harness).at.select(selection);
    harness.get_by_label("?").click();
    harness.run_steps(3);
    assert!(harness.query_by_label("Keyboard and mouse").is_some());
    harness.key_press(Key::Escape);
    harness.run_steps(30);
    assert!(harness.query_by_label("Keyboard and mouse").is_none());
    assert_eq!(device(&mut harness).at.selection(), selection);
}

#[test]
fn the_tab_that_is_shown_is_in_sight() {
    let mut harness = harness();
    let names = ["annotated", "compiled", "frag_oom", "gpt_oom_forward", "kv_cache_oom", "leak_eval_losses"];
    for name in names.into_iter().chain(["pinned_host", "pools", "streams", "two_devices_oom"]) {
        open_path(&mut harness, sample(&format!("{name}.pickle")));
    }
    let width = harness.ctx.viewport_rect().width();
    for (at, name) in [(9, "two_devices_oom.pickle"), (0, "annotated.pickle")] {
        harness.state_mut().current = at;
        harness.run_steps(60);
        let tab = harness.get_by_role_and_label(Role::Tab, name).rect();
        assert!(0.0 <= tab.left() && tab.right() < width, "{tab:?}");
    }
}
