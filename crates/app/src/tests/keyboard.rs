//! The window without a mouse: every control can be reached, seen and named, and every key counts.

use super::*;
use crate::device::PaneId;
use crate::device::Selection;
use crate::screenshots::Camera;
use eframe::egui::accesskit::Action;
use eframe::egui::{Event, Id, Modifiers, Rect};
use egui_kittest::kittest::NodeT as _;
use oomscope_draw::software::Pixels;

/// More than any pane has controls: who needs more presses of Tab is in a trap.
const MAX_STOPS: usize = 300;

/// Pixels that differ at least where something is to be seen: a line around the smallest button.
const MIN_SEEN_PX: usize = 60;

fn focused(harness: &Harness<'static, App>) -> Option<Id> {
    harness.ctx.memory(|memory| memory.focused())
}

/// Press a key once, and draw until its effect is there.
fn press(harness: &mut Harness<'static, App>, modifiers: Modifiers, key: Key) {
    harness.key_press_modifiers(modifiers, key);
    harness.run_steps(3);
}

/// What a stop of the Tab key is, for messages.
fn describe(harness: &Harness<'static, App>, id: Id) -> String {
    let node = harness.root().children_recursive().find(|node| node.accesskit_node().is_focused());
    let rect = harness.ctx.read_response(id).map(|response| response.rect);
    match node.map(|node| node.accesskit_node()) {
        Some(node) => format!("{:?} {:?} at {rect:?}", node.role(), node.label()),
        None => format!("{id:?} at {rect:?}"),
    }
}

/// Go through all stops from the first on, with a visit to each.
fn walk(
    harness: &mut Harness<'static, App>,
    modifiers: Modifiers,
    mut visit: impl FnMut(&mut Harness<'static, App>, Id),
) -> Vec<Id> {
    let mut stops = Vec::new();
    for _ in 0..MAX_STOPS {
        harness.key_press_modifiers(modifiers, Key::Tab);
        // Around the ends, the focus arrives a frame later.
        harness.run_steps(2);
        let Some(id) = focused(harness) else { continue };
        if stops.contains(&id) {
            let message = format!("{} comes again before all others", describe(harness, id));
            assert_eq!(stops.first(), Some(&id), "{message}");
            return stops;
        }
        visit(harness, id);
        stops.push(id);
    }
    panic!("Tab does not come back to the first of {} stops", stops.len());
}

/// Pixels around an area that differ.
fn differing(a: &Pixels, b: &Pixels, area: Rect) -> usize {
    let range = |from: f32, to: f32| from.max(0.0) as usize..to.max(0.0) as usize;
    let rows = range(area.top(), area.bottom());
    let all = rows.flat_map(|y| range(area.left(), area.right()).map(move |x| (x, y)));
    all.filter(|&(x, y)| a.get(x, y) != b.get(x, y)).count()
}

/// Every stop of a window with a device, in front of a pane.
const PANES: [PaneId; 11] = [
    PaneId::Details,
    PaneId::Segments,
    PaneId::SegmentTimeline,
    PaneId::Stacks,
    PaneId::Holes,
    PaneId::Allocations,
    PaneId::Events,
    PaneId::Iterations,
    PaneId::Modules,
    PaneId::Report,
    PaneId::Fixes,
];

#[test]
fn tab_goes_once_through_all_controls_and_each_shows_it() {
    let camera = Camera::default();
    let mut harness = camera.harness([1280.0, 800.0], Theme::Dark);
    open_path(&mut harness, sample("frag_oom.pickle"));
    let mut unseen = Vec::new();
    let forward = walk(&mut harness, Modifiers::NONE, |harness, id| {
        // Scrolled into sight.
        harness.run_steps(1);
        let place = harness.ctx.read_response(id).expect("it is drawn").interact_rect;
        let place = place.expand(3.0).intersect(harness.ctx.content_rect());
        let with = camera.shoot(harness);
        harness.ctx.memory_mut(|memory| memory.surrender_focus(id));
        harness.run_steps(1);
        let without = camera.shoot(harness);
        harness.ctx.memory_mut(|memory| memory.request_focus(id));
        harness.run_steps(2);
        if !place.is_positive() || differing(&with, &without, place) < MIN_SEEN_PX {
            unseen.push(describe(harness, id));
        }
    });
    assert!(unseen.is_empty(), "focus is not to be seen on:\n{}", unseen.join("\n"));
    assert!(40 < forward.len(), "only {} stops", forward.len());
}

#[test]
fn tab_goes_through_a_line_as_it_is_read() {
    let mut harness = harness();
    open_path(&mut harness, sample("two_devices_oom.pickle"));
    let mut places: Vec<Rect> = Vec::new();
    walk(&mut harness, Modifiers::NONE, |harness, id| {
        places.push(harness.ctx.read_response(id).expect("it is drawn").rect);
    });
    let top = harness.get_by_role_and_label(Role::Canvas, "Allocation timeline").rect().top();
    let above: Vec<Rect> = places.into_iter().filter(|place| place.bottom() < top).collect();
    assert!(12 < above.len());
    for pair in above.windows(2) {
        let is_below = pair[0].bottom() < pair[1].top() + 6.0;
        assert!(is_below || pair[0].left() < pair[1].left(), "{:?} comes before {:?}", pair[0], pair[1]);
    }
}

#[test]
fn every_pane_can_be_left_with_tab() {
    let mut harness = harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    let mut stops_from = |pane, modifiers| {
        device(&mut harness).wanted_pane = Some(pane);
        harness.run_steps(4);
        harness.ctx.memory_mut(focused_off);
        let mut stops = walk(&mut harness, modifiers, |_, _| ());
        stops.sort_by_key(|id| id.value());
        stops
    };
    for pane in PANES {
        assert!(30 < stops_from(pane, Modifiers::NONE).len(), "{pane:?}");
    }
    // The pane with a field of its own, backwards.
    let forward = stops_from(PaneId::Events, Modifiers::NONE);
    assert_eq!(forward, stops_from(PaneId::Events, Modifiers::SHIFT));
}

fn focused_off(memory: &mut egui::Memory) {
    if let Some(id) = memory.focused() {
        memory.surrender_focus(id);
    }
}

#[test]
fn everything_that_takes_the_keyboard_has_a_name() {
    let mut harness = harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    let mut unnamed = Vec::new();
    for pane in PANES {
        device(&mut harness).wanted_pane = Some(pane);
        harness.run_steps(4);
        let root = harness.root();
        let nodes = root.children_recursive().map(|node| node.accesskit_node());
        let nodes = nodes.filter(|node| node.data().supports_action(Action::Focus) && !node.is_hidden());
        let nameless = nodes.filter(|node| node.label().is_none_or(|label| label.trim().is_empty()));
        unnamed
            .extend(nameless.map(|node| format!("{pane:?}: {:?} at {:?}", node.role(), node.raw_bounds())));
    }
    assert!(unnamed.is_empty(), "{}", unnamed.join("\n"));
}

#[test]
fn pictures_say_what_is_at_the_cursor() {
    let mut harness = harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    let value = |harness: &Harness<'static, App>, name| {
        harness.get_by_role_and_label(Role::Canvas, name).value().unwrap_or_default()
    };
    assert!(value(&harness, "Allocation timeline").contains("active 1.80 GiB"));
    assert!(
        value(&harness, "Segment map").contains("2.15 GiB free in 14 holes"),
        "{}",
        value(&harness, "Segment map")
    );
    for (pane, name) in [(PaneId::SegmentTimeline, "Segment timeline"), (PaneId::Stacks, "Flame graph")] {
        device(&mut harness).wanted_pane = Some(pane);
        harness.run_steps(4);
        assert!(value(&harness, name).contains("GiB"), "{}", value(&harness, name));
    }
    // Enter selects what the event at the cursor is about, and Down goes to the heaviest frame.
    press(&mut harness, Modifiers::NONE, Key::P);
    harness.get_by_role_and_label(Role::Canvas, "Allocation timeline").focus();
    harness.run_steps(2);
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert!(matches!(device(&mut harness).at.selection(), Selection::Allocation(_)));
    assert!(value(&harness, "Allocation timeline").contains("selected: "));
    let all = value(&harness, "Flame graph");
    harness.get_by_role_and_label(Role::Canvas, "Flame graph").focus();
    harness.run_steps(2);
    press(&mut harness, Modifiers::NONE, Key::ArrowDown);
    assert_ne!(value(&harness, "Flame graph"), all);
    press(&mut harness, Modifiers::NONE, Key::ArrowUp);
    assert_eq!(value(&harness, "Flame graph"), all);
}

#[test]
fn every_press_of_a_key_counts() {
    let mut harness = harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    press(&mut harness, Modifiers::NONE, Key::Home);
    let arrow = |repeat| Event::Key {
        key: Key::ArrowRight,
        physical_key: None,
        pressed: true,
        repeat,
        modifiers: Modifiers::NONE,
    };
    // Ten within one frame, and some of them are a key that is held down.
    harness.input_mut().events.extend((0..10).map(|at| arrow(at % 2 == 1)));
    harness.step();
    assert_eq!(cursor(&mut harness), Moment(10));
    // With a button focused, arrows still step, and the focus stays.
    harness.get_by_label("Time").focus();
    harness.run_steps(3);
    let button = focused(&harness);
    press(&mut harness, Modifiers::NONE, Key::ArrowLeft);
    assert_eq!((cursor(&mut harness), focused(&harness)), (Moment(9), button));
}

#[test]
fn tab_leaves_the_filter_unless_a_word_is_begun() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    press(&mut harness, Modifiers::NONE, Key::Slash);
    let field = focused(&harness);
    assert!(field.is_some());
    press(&mut harness, Modifiers::NONE, Key::Tab);
    assert_ne!(focused(&harness), field);
    press(&mut harness, Modifiers::SHIFT, Key::Tab);
    assert_eq!(focused(&harness), field);
    press(&mut harness, Modifiers::SHIFT, Key::Tab);
    assert_ne!(focused(&harness), field);
    assert_eq!(device(&mut harness).at.query, "");
    press(&mut harness, Modifiers::COMMAND, Key::F);
    harness.event(Event::Text("liv".to_owned()));
    harness.run_steps(3);
    press(&mut harness, Modifiers::NONE, Key::Tab);
    assert_eq!(device(&mut harness).at.query, "live ");
    assert_eq!(focused(&harness), field);
    press(&mut harness, Modifiers::NONE, Key::Tab);
    assert_eq!(device(&mut harness).at.query, "live ");
    assert_ne!(focused(&harness), field);
    // Who comes by again has typed nothing; what is moved to is taken.
    press(&mut harness, Modifiers::COMMAND, Key::F);
    press(&mut harness, Modifiers::NONE, Key::ArrowDown);
    press(&mut harness, Modifiers::NONE, Key::Tab);
    assert_eq!(focused(&harness), field);
    assert_ne!(device(&mut harness).at.query, "live ");
}

#[test]
fn digits_bring_panes_to_the_front() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    press(&mut harness, Modifiers::NONE, Key::Num2);
    assert!(harness.query_by_role_and_label(Role::Canvas, "Flame graph").is_some());
    press(&mut harness, Modifiers::NONE, Key::Num1);
    assert!(harness.query_by_role_and_label(Role::Canvas, "Segment map").is_some());
}

#[test]
fn the_report_is_found_by_typing_its_name() {
    for size in [[1280.0, 800.0], [900.0, 600.0]] {
        let camera = Camera::default();
        let mut harness = camera.harness(size, Theme::Light);
        open_path(&mut harness, sample("frag_oom.pickle"));
        press(&mut harness, Modifiers::COMMAND, Key::P);
        camera.save(&harness, &format!("commands_{}", size[0]));
        harness.event(Event::Text("show report".to_owned()));
        harness.run_steps(3);
        camera.save(&harness, &format!("commands_found_{}", size[0]));
        press(&mut harness, Modifiers::NONE, Key::Enter);
        assert!(harness.query_by_label("Search commands").is_none());
        assert!(harness.query_by_label("Copy as Markdown").is_some());
        // Escape closes it, and arrows choose.
        press(&mut harness, Modifiers::COMMAND, Key::K);
        assert!(harness.query_by_label("Search commands").is_some());
        press(&mut harness, Modifiers::NONE, Key::Escape);
        assert!(harness.query_by_label("Search commands").is_none());
        press(&mut harness, Modifiers::COMMAND, Key::K);
        harness.event(Event::Text("color".to_owned()));
        harness.run_steps(2);
        press(&mut harness, Modifiers::NONE, Key::ArrowDown);
        press(&mut harness, Modifiers::NONE, Key::Enter);
        assert_eq!(device(&mut harness).at.color_by, oomscope_draw::ColorBy::ALL[1]);
        press(&mut harness, Modifiers::NONE, Key::Questionmark);
        camera.save(&harness, &format!("help_{}", size[0]));
        press(&mut harness, Modifiers::NONE, Key::Escape);
    }
}

#[test]
fn every_command_runs() {
    use crate::command_search::{Shown, entries};
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    let shown = Shown { devices: vec!["device 0".to_owned()], ..Shown::default() };
    for entry in entries(&shown) {
        // Dialogs ask the system, and the file is to stay.
        let is_asking = entry.name.starts_with("Export") || entry.name.starts_with("Open");
        if is_asking || entry.name == "Close the file" {
            continue;
        }
        press(&mut harness, Modifiers::COMMAND, Key::K);
        harness.event(Event::Text(entry.name.clone()));
        harness.run_steps(2);
        press(&mut harness, Modifiers::NONE, Key::Enter);
        assert!(harness.query_by_label("Search commands").is_none(), "{} is not found", entry.name);
        press(&mut harness, Modifiers::NONE, Key::Escape);
    }
    assert_eq!(harness.ctx.zoom_factor(), 1.0);
}

#[test]
fn text_can_be_larger() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    press(&mut harness, Modifiers::COMMAND, Key::Equals);
    press(&mut harness, Modifiers::COMMAND, Key::Equals);
    assert_eq!(harness.ctx.zoom_factor(), 1.2);
    press(&mut harness, Modifiers::COMMAND, Key::K);
    harness.event(Event::Text("settings".to_owned()));
    harness.run_steps(2);
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert!(harness.query_by_label("120 %").is_some());
    press(&mut harness, Modifiers::NONE, Key::Tab);
    let first = harness.get_by_label("Follow the system").accesskit_node().is_focused();
    assert!(first, "Tab does not go into the menu");
    harness.get_by_label("Smaller text").click();
    harness.run_steps(3);
    assert_eq!(harness.ctx.zoom_factor(), 1.1);
    press(&mut harness, Modifiers::COMMAND, Key::Num0);
    assert_eq!(harness.ctx.zoom_factor(), 1.0);
}

#[test]
fn lines_between_panes_move_with_the_arrow_keys() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    let height = |harness: &Harness<'static, App>| {
        harness.get_by_role_and_label(Role::Canvas, "Allocation timeline").rect().height()
    };
    harness.get_by_label("Line below Timeline").focus();
    harness.run_steps(2);
    press(&mut harness, Modifiers::NONE, Key::ArrowDown);
    // The arrangement is the user's now, with tabs everywhere.
    let before = height(&harness);
    press(&mut harness, Modifiers::NONE, Key::ArrowDown);
    assert!((height(&harness) - before - 20.0).abs() < 1.0, "{} {before}", height(&harness));
    let moment = cursor(&mut harness);
    harness.get_by_label("Line right of Timeline").focus();
    harness.run_steps(2);
    press(&mut harness, Modifiers::NONE, Key::ArrowLeft);
    assert_eq!(cursor(&mut harness), moment);
}
