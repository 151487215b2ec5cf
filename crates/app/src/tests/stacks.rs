//! The flame graph and the table of sites in the application, without a window.

use crate::App;
use crate::device::PaneId;
use crate::device::Selection;
use crate::panes::OpenDevice;
use crate::stacks::controls::Mode;
use crate::tests::details::with_source;
use crate::tests::{harness, open, snapshot_pickle};
use eframe::egui::{self, Key, Role};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use oomscope_analysis::{NodeIx, site_label};
use oomscope_draw::{FLAME_ROW_PX, FlameItem, FlameRect};
use oomscope_model::Moment;
use std::path::Path;
use std::time::{Duration, Instant};

/// The site of six activations in the sample, and their bytes when a training step runs out of memory.
const SITE: &str = "model.py:58 forward";
const SITE_BYTES: &str = "7.03 GiB (7,549,747,200 bytes)";

type Window = Harness<'static, App>;

/// A window with a sample that ran out of memory, with its call tree.
fn sample() -> (Window, tempfile::TempDir) {
    let mut harness = harness();
    harness.set_size(egui::vec2(1500.0, 1400.0));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample_snapshots/gpt_oom_forward.pickle");
    let folder = open(&mut harness, &std::fs::read(path).expect("the sample can be read"));
    device(&mut harness, |device| device.wanted_pane = Some(PaneId::Stacks));
    wait(&mut harness);
    (harness, folder)
}

/// Wait until the answer to the present choices is shown.
fn wait(harness: &mut Window) {
    let patience = Instant::now() + Duration::from_secs(20);
    harness.run_steps(2);
    let is_current = |device: &mut OpenDevice| {
        device.states.stacks.is_current(&device.derived, &device.at, &device.recording)
    };
    while Instant::now() < patience && !device(harness, is_current) {
        harness.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    harness.run_steps(3);
}

fn device<T>(harness: &mut Window, look: impl FnOnce(&mut OpenDevice) -> T) -> T {
    let file = harness.state_mut().documents[0].open_file().expect("an open file");
    look(file.device().expect("a device"))
}

/// The rectangles of the graph with the labels of their frames.
fn rects(harness: &mut Window) -> Vec<(FlameRect, String)> {
    device(harness, |device| {
        let weighed = device.states.stacks.weighed().expect("the tree is built");
        let layout = device.states.stacks.flame.layout().expect("the graph is laid out");
        let label = |rect: &FlameRect| match rect.node() {
            Some(NodeIx::ROOT) => "all".to_owned(),
            Some(node) => weighed.names.frames.get(weighed.tree.frame(node)).label.clone(),
            None => "merged".to_owned(),
        };
        layout.rects().iter().map(|rect| (*rect, label(rect))).collect()
    })
}

fn rect_of(harness: &mut Window, wanted: &str) -> FlameRect {
    let all = rects(harness);
    let found = all.iter().find(|(_, label)| label == wanted);
    found.unwrap_or_else(|| panic!("no {wanted} in {all:?}")).0
}

/// The middle of a rectangle of the graph, in the window.
fn middle(harness: &Window, rect: FlameRect) -> egui::Pos2 {
    let graph = harness.get_by_role_and_label(Role::Canvas, "Flame graph").rect();
    let y = graph.top() + (rect.row as f32 + 0.5) * FLAME_ROW_PX;
    egui::pos2(graph.left() + f32::midpoint(rect.x[0], rect.x[1]), y)
}

fn hover(harness: &mut Window, rect: FlameRect) {
    harness.hover_at(middle(harness, rect));
    harness.run_steps(3);
}

fn click(harness: &mut Window, rect: FlameRect) {
    let at = middle(harness, rect);
    harness.drag_at(at);
    harness.run_steps(1);
    harness.drop_at(at);
    harness.run_steps(3);
}

#[test]
fn a_site_has_its_line_of_code_where_the_recording_came_with_its_files() {
    for (bytes, is_known) in [(snapshot_pickle(), false), (with_source(), true)] {
        let mut harness = harness();
        harness.set_size(egui::vec2(2500.0, 1400.0));
        let _folder = open(&mut harness, &bytes);
        device(&mut harness, |device| device.wanted_pane = Some(PaneId::Stacks));
        wait(&mut harness);
        assert_ne!(harness.query_all_by_label_contains("train.py:55 attention").count(), 0);
        let found = harness.query_all_by_label_contains("attention: weights = torch.softmax").count();
        assert_eq!(found != 0, is_known);
    }
}

#[test]
fn the_graph_at_the_oom_has_the_site_with_its_bytes() {
    let (mut harness, _folder) = sample();
    let rect = rect_of(&mut harness, SITE);
    assert_eq!(rect.weight, 7_549_747_200);
    hover(&mut harness, rect);
    assert!(harness.query_by_label(SITE_BYTES).is_some());
    assert!(harness.query_by_label("6 allocations, the largest 1.88 GiB").is_some());
    assert!(harness.query_by_label_contains("Click to select the stack").is_some());
    click(&mut harness, rect);
    let site = device(&mut harness, |device| match device.at.selection() {
        Selection::Stack(stack) => site_label(device.recording.snapshot(), stack),
        other => panic!("{other:?} is selected"),
    });
    assert_eq!(site, SITE);
}

#[test]
fn callees_first_starts_with_the_innermost_frame() {
    let (mut harness, _folder) = sample();
    assert!(1 < rect_of(&mut harness, SITE).row);
    harness.get_by_label("Callees first").click();
    wait(&mut harness);
    let rect = rect_of(&mut harness, SITE);
    assert_eq!((rect.row, rect.weight), (1, 7_549_747_200));
    hover(&mut harness, rect);
    assert!(harness.query_by_label(SITE_BYTES).is_some());
}

#[test]
fn a_click_zooms_and_the_path_leads_back() {
    let (mut harness, _folder) = sample();
    let block = rect_of(&mut harness, "model.py:88 forward");
    click(&mut harness, block);
    let zoomed = rect_of(&mut harness, "model.py:88 forward");
    assert_eq!((zoomed.row, zoomed.weight), (0, block.weight));
    assert!(block.width_px() < zoomed.width_px());
    harness.get_by_role_and_label(Role::Button, "model.py:113 forward").click();
    harness.run_steps(3);
    assert_eq!(rect_of(&mut harness, "model.py:113 forward").row, 0);
    harness.get_by_label("Reset zoom").click();
    harness.run_steps(3);
    assert_eq!(rect_of(&mut harness, "model.py:88 forward"), block);
    assert!(harness.query_by_label("Reset zoom").is_none());
}

#[test]
fn internal_frames_are_there_when_asked_for() {
    let (mut harness, _folder) = sample();
    assert!(!rects(&mut harness).iter().any(|(_, label)| label.contains("_call_impl")));
    harness.get_by_label("Internal frames").click();
    wait(&mut harness);
    assert!(rects(&mut harness).iter().any(|(_, label)| label == "module.py:1798 _call_impl"));
}

#[test]
fn a_search_says_its_share() {
    let (mut harness, _folder) = sample();
    harness.get_by_label("Search frames").focus();
    harness.run_steps(2);
    harness.get_by_label("Search frames").type_text("MODEL.py:58");
    harness.run_steps(3);
    let all = rect_of(&mut harness, "all").weight;
    let share = 7_549_747_200.0 / all as f64 * 100.0;
    assert!(harness.query_by_label(&format!("{share:.1} % in 1 frame")).is_some());
}

/// The rows of the table that are seen, from the top.
fn rows(harness: &Window) -> Vec<egui_kittest::Node<'_>> {
    let table = harness.get_by_role_and_label(Role::Table, "allocation sites").rect();
    let rows = harness.query_all_by_role(Role::Row).filter(|row| table.contains(row.rect().center()));
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by(|a, b| a.rect().top().total_cmp(&b.rect().top()));
    rows
}

fn first(harness: &Window) -> String {
    rows(harness).first().and_then(|row| row.accesskit_node().label()).expect("there is a row")
}

#[test]
fn a_click_on_a_site_selects_its_stack() {
    let (mut harness, _folder) = sample();
    assert!(first(&harness).starts_with("7.03 GiB, 6, 1.88 GiB, "), "{}", first(&harness));
    rows(&harness)[0].click();
    harness.run_steps(3);
    let site = device(&mut harness, |device| {
        let stack = device.at.selected_stack().expect("a stack is selected");
        site_label(device.recording.snapshot(), stack)
    });
    assert_eq!(site, SITE);
}

#[test]
fn sites_can_be_sorted_either_way() {
    let (mut harness, _folder) = sample();
    let most = first(&harness);
    assert!(most.contains(SITE), "{most}");
    harness.get_by_label("Sort by bytes").click();
    harness.run_steps(3);
    assert!(!first(&harness).contains("iB, 6"), "{}", first(&harness));
    harness.get_by_label("Sort by bytes").click();
    harness.run_steps(3);
    assert_eq!(first(&harness), most);
}

#[test]
fn the_filter_leaves_only_what_matches() {
    let (mut harness, _folder) = sample();
    device(&mut harness, |device| "size>1GiB".clone_into(&mut device.at.query));
    wait(&mut harness);
    let expected = device(&mut harness, |device| {
        let timeline = device.recording.timeline();
        let live = timeline.lifetimes.live_at(device.at.cursor);
        let sizes = live.map(|id| timeline.size(id));
        sizes.filter(|&size| 1 << 30 < size).map(i128::from).sum::<i128>()
    });
    assert!(0 < expected);
    assert_eq!(rect_of(&mut harness, "all").weight, expected);
}

#[test]
fn the_mark_starts_a_range_that_ends_at_the_cursor() {
    let (mut harness, _folder) = sample();
    let oom = device(&mut harness, |device| device.at.cursor);
    device(&mut harness, |device| device.at.go_to(Moment(oom.0 - 100)));
    harness.key_press(Key::M);
    wait(&mut harness);
    assert!(harness.query_by_label("0 allocations in no event: the mark is at the cursor").is_some());
    device(&mut harness, |device| device.at.go_to(oom));
    wait(&mut harness);
    let expected = device(&mut harness, |device| {
        assert_eq!(device.states.stacks.controls.mode, Mode::Allocated);
        let events = &device.recording.timeline().events;
        let made = events.indices().filter(|ix| (oom.0 - 100..oom.0).contains(&ix.0));
        let made = made.filter(|&ix| events.action(ix) == oomscope_model::Action::Alloc);
        made.map(|ix| i128::from(events.size(ix))).sum::<i128>()
    });
    assert!(0 < expected);
    assert_eq!(rect_of(&mut harness, "all").weight, expected);
}

#[test]
fn stepping_changes_the_graph_at_once() {
    let (mut harness, _folder) = sample();
    for key in [Key::Home, Key::P, Key::ArrowLeft, Key::O] {
        harness.key_press(key);
        harness.run_steps(2);
        let active = device(&mut harness, |device| device.recording.timeline().active.at(device.at.cursor));
        let shown = rects(&mut harness).first().map_or(0, |(rect, _)| rect.weight);
        assert_eq!(shown, i128::from(active), "after {key:?}");
    }
}

#[test]
fn a_context_menu_outlives_its_tree() {
    let (mut harness, _folder) = sample();
    device(&mut harness, |device| device.states.stacks.controls.options.shows_internal = true);
    wait(&mut harness);
    // The last node of the larger tree is none of the smaller one.
    let node = |rect: &FlameRect| match rect.item {
        FlameItem::Single(node) => node,
        FlameItem::Merged { parent, .. } => parent,
    };
    let last = rects(&mut harness).into_iter().map(|(rect, _)| rect).max_by_key(node).expect("a graph");
    hover(&mut harness, last);
    let at = middle(&harness, last);
    for pressed in [true, false] {
        let modifiers = egui::Modifiers::NONE;
        let button = egui::PointerButton::Secondary;
        harness.event(egui::Event::PointerButton { pos: at, button, pressed, modifiers });
        harness.run_steps(2);
    }
    assert!(harness.query_by_label("Zoom in on this frame").is_some(), "the menu is open");
    device(&mut harness, |device| device.states.stacks.controls.options.shows_internal = false);
    wait(&mut harness);
    harness.get_by_label("Zoom in on this frame").click();
    wait(&mut harness);
    assert!(harness.query_by_label("Zoom in on this frame").is_none(), "a choice closes the menu");
    assert!(!rects(&mut harness).is_empty(), "what is left of its path is in the graph");
}
