//! The lists of events and allocations in the real application.

use super::*;
use crate::device::PaneId;
use crate::device::Selection;
use egui_kittest::kittest::NodeT as _;
use oomscope_model::AllocId;

/// The sample file with a pane in front.
fn harness_on(pane: PaneId) -> (Harness<'static, App>, tempfile::TempDir) {
    let mut harness = harness();
    let folder = open(&mut harness, &snapshot_pickle());
    device(&mut harness).wanted_pane = Some(pane);
    harness.run_steps(4);
    (harness, folder)
}

fn rows(harness: &Harness<'_, App>) -> Vec<String> {
    let rows = harness.query_all_by_role(Role::Row);
    rows.filter_map(|row| row.accesskit_node().label()).collect()
}

/// What was put on the clipboard by a click.
fn copied(harness: &mut Harness<'static, App>, button: &str) -> String {
    harness.get_by_label(button).click();
    let mut text = String::new();
    wait(harness, |harness| {
        for command in &harness.output().platform_output.commands {
            if let egui::OutputCommand::CopyText(copied) = command {
                text.clone_from(copied);
            }
        }
        !text.is_empty()
    });
    text
}

#[test]
fn a_click_on_an_event_moves_the_cursor_and_selects_its_allocation() {
    let (mut harness, _folder) = harness_on(PaneId::Events);
    assert!(
        rows(&harness).iter().any(|row| row.contains("oom") && row.contains("16.0 MiB")),
        "{:?}",
        rows(&harness)
    );
    harness.get_by_label_contains("free_requested").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.cursor, Moment(5));
    assert_eq!(device(&mut harness).at.selection(), Selection::Allocation(AllocId(1)));
    harness.key_press(Key::ArrowUp);
    harness.run_steps(2);
    assert_eq!(device(&mut harness).at.cursor, Moment(4));
    for _ in 0..9 {
        harness.key_press(Key::ArrowDown);
        harness.run_steps(1);
    }
    assert_eq!(device(&mut harness).at.cursor, Moment(7));
    harness.key_press_modifiers(egui::Modifiers::ALT, Key::ArrowLeft);
    harness.run_steps(2);
    assert_ne!(device(&mut harness).at.selection(), Selection::Allocation(AllocId(1)));
}

#[test]
fn a_segment_event_selects_its_segment() {
    let (mut harness, _folder) = harness_on(PaneId::Events);
    device(&mut harness).at.move_to(Moment::START);
    harness.run_steps(2);
    harness.get_by_label_contains("segment_alloc").click();
    harness.run_steps(2);
    assert_eq!(device(&mut harness).at.selection(), Selection::Segment { addr: 1 << 30 });
}

#[test]
fn a_search_counts_steps_and_leaves_out() {
    let (mut harness, _folder) = harness_on(PaneId::Events);
    let field = harness.get_by_label("Search events");
    field.focus();
    field.type_text("alloc >3MiB");
    assert!(wait(&mut harness, |harness| harness.query_by_label_contains("2 of 7 events match").is_some()));
    harness.get_by_label("Next").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.cursor, Moment(2));
    assert!(harness.query_by_label_contains("match 1 ·").is_some());
    harness.get_by_label("Previous").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.cursor, Moment(3));
    assert!(3 < rows(&harness).len());
    harness.get_by_label("Only matching").click();
    harness.run_steps(3);
    assert_eq!(rows(&harness).len(), 2);
    let csv = copied(&mut harness, "Copy as CSV");
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(csv.contains("alloc,0x40000000,8388608,0,"), "{csv}");
}

#[test]
fn a_search_that_is_wrong_says_so() {
    let (mut harness, _folder) = harness_on(PaneId::Events);
    let field = harness.get_by_label("Search events");
    field.focus();
    field.type_text(">lots");
    harness.run_steps(3);
    let error = "size: expected a size such as 100MB, 512KiB or 1MiB..2MiB, found \"lots\"";
    assert!(harness.query_by_label("not a query yet").is_some());
    assert!(harness.query_by_label(error).is_some());
    harness.key_press(Key::Enter);
    harness.run_steps(3);
    assert!(harness.query_by_label(error).is_none());
    harness.get_by_label("Search events").focus();
    harness.key_press(Key::Escape);
    harness.run_steps(3);
    assert!(harness.query_by_label(error).is_some());
}

#[test]
fn a_search_that_asks_about_allocations_says_where_it_belongs() {
    let (mut harness, _folder) = harness_on(PaneId::Events);
    let field = harness.get_by_label("Search events");
    field.focus();
    field.type_text("alloc lifetime<1s");
    harness.run_steps(3);
    assert!(harness.query_by_label("lifetime asks about allocations; it belongs in the filter").is_some());
}

#[test]
fn a_search_is_completed_with_the_keyboard() {
    let (mut harness, _folder) = harness_on(PaneId::Events);
    let field = harness.get_by_label("Search events");
    field.focus();
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("3 events").is_some());
    harness.get_by_label("Search events").type_text("free_r");
    harness.run_steps(3);
    harness.key_press(Key::Tab);
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("1 of 7 events match").is_some());
    harness.key_press(Key::Enter);
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.cursor, Moment(5));
}

#[test]
fn allocations_are_sorted_by_their_headers() {
    let (mut harness, _folder) = harness_on(PaneId::Allocations);
    let first = |harness: &Harness<'_, App>| rows(harness).first().cloned().unwrap_or_default();
    assert!(first(&harness).starts_with("8.00 MiB"), "{:?}", rows(&harness));
    assert!(harness.query_by_label_contains("2 blocks, 10.0 MiB active after event 6").is_some());
    harness.get_by_label("Sort by Size").click();
    harness.run_steps(3);
    assert!(first(&harness).starts_with("2.00 MiB"));
    harness.get_by_label("Sort by Address").click_accesskit();
    harness.run_steps(3);
    assert!(first(&harness).contains("0x40000000"));
    harness.get_by_label("Sort by Age").click();
    harness.run_steps(3);
    assert!(first(&harness).starts_with("8.00 MiB"));
}

#[test]
fn a_click_selects_an_allocation_and_keys_go_on() {
    let (mut harness, _folder) = harness_on(PaneId::Allocations);
    harness.query_all_by_role(Role::Row).next().expect("a row").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.selection(), Selection::Allocation(AllocId(0)));
    harness.key_press(Key::ArrowDown);
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.selection(), Selection::Allocation(AllocId(2)));
    let csv = copied(&mut harness, "Copy as CSV");
    assert!(csv.lines().nth(1).is_some_and(|line| line.starts_with("0x40000000,8388608,0,,1,")), "{csv}");
}

#[test]
fn all_allocations_are_listed_with_those_that_are_gone() {
    let (mut harness, _folder) = harness_on(PaneId::Allocations);
    harness.get_by_label("All").click();
    assert!(wait(&mut harness, |harness| rows(harness).len() == 3), "{:?}", rows(&harness));
    assert!(harness.query_by_label_contains("3 allocations in the recording, 14.0 MiB in all").is_some());
}

#[test]
fn the_filter_holds_for_both_lists() {
    let (mut harness, _folder) = harness_on(PaneId::Allocations);
    device(&mut harness).at.query = "size=8MiB".to_owned();
    assert!(wait(&mut harness, |harness| rows(harness).len() == 1), "{:?}", rows(&harness));
    assert!(harness.query_by_label_contains("1 of 2 match, 8.00 MiB active after event 6").is_some());
    harness.get_by_label("All").click();
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("1 of 3 match, 8.00 MiB in all").is_some());
    device(&mut harness).wanted_pane = Some(PaneId::Events);
    assert!(wait(&mut harness, |harness| harness.query_by_label_contains("1 of 7 events match").is_some()));
    assert!(1 < rows(&harness).len());
    harness.get_by_label("Only matching").click();
    harness.run_steps(3);
    assert_eq!(rows(&harness).len(), 1);
    harness.get_by_label("Next").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.cursor, Moment(2));
}

#[test]
fn another_allocation_that_is_selected_is_scrolled_to() {
    let (mut harness, _folder) = harness_on(PaneId::Allocations);
    device(&mut harness).at.select(Selection::Allocation(AllocId(2)));
    harness.run_steps(3);
    let selected = harness
        .query_all_by_role(Role::Row)
        .find(|row| row.accesskit_node().toggled() == Some(egui::accesskit::Toggled::True));
    assert!(
        selected.and_then(|row| row.accesskit_node().label()).is_some_and(|row| row.starts_with("2.00 MiB"))
    );
}

/// A sample with a pane in front.
fn sample_on(pane: PaneId, name: &str) -> Harness<'static, App> {
    let mut harness = harness();
    open_path(&mut harness, sample(name));
    device(&mut harness).wanted_pane = Some(pane);
    harness.run_steps(4);
    harness
}

#[test]
fn a_click_on_an_iteration_goes_to_its_peak_and_a_button_filters_to_it() {
    let mut harness = sample_on(PaneId::Iterations, "annotated.pickle");
    let listed = rows(&harness);
    assert_eq!(listed.len(), 3, "{listed:?}");
    assert!(listed[0].starts_with("0, 37–829, 1.77 GiB, 221, backward, +409 MiB, 409 MiB"), "{listed:?}");
    harness.query_all_by_role(Role::Row).nth(2).expect("a row").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.cursor, Moment(1720));
    harness.key_press(Key::ArrowUp);
    harness.run_steps(2);
    assert_eq!(device(&mut harness).at.cursor, Moment(1000));
    harness.get_by_label("Filter to it").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.query, "iteration:1");
    let csv = copied(&mut harness, "Copy as CSV");
    assert!(csv.lines().nth(1).is_some_and(|line| line.starts_with("0,0,37,829,")), "{csv}");
}

#[test]
fn modules_are_those_of_the_cursor() {
    let mut harness = sample_on(PaneId::Modules, "annotated.pickle");
    device(&mut harness).at.go_to(Moment(1000));
    assert!(wait(&mut harness, |harness| {
        rows(harness)
            .iter()
            .any(|row| row.contains("model.py forward ×2 (model.py:113), 415 MiB, 207 MiB each"))
    }));
    let listed = rows(&harness);
    assert!(listed[0].starts_with("model.py forward (train.py:85), 821 MiB"), "{listed:?}");
    assert!(harness.query_by_label_contains("after event 999; the module is known for").is_some());
    device(&mut harness).at.go_to(Moment::START);
    assert!(wait(&mut harness, |harness| rows(harness).is_empty()));
    assert!(harness.query_by_label_contains("No parameters").is_some());
}

#[test]
fn a_search_for_events_knows_iterations_and_ranges() {
    for (query, found) in
        [("iteration:1", "722 of 2,272 events"), ("range:\"## forward ##\"", "488 of 2,272 events")]
    {
        let mut harness = sample_on(PaneId::Events, "annotated.pickle");
        let field = harness.get_by_label("Search events");
        field.focus();
        field.type_text(query);
        assert!(wait(&mut harness, |harness| harness.query_by_label_contains(found).is_some()), "{query}");
    }
}
