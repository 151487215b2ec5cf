//! The list alone, with more rows than pixels could count.

use super::*;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

const TOTAL: usize = 10_000_000;
const COLUMNS: [Column; 2] = [Column::figure("Number", "", 90.0), Column::text("Name", "", 120.0)];

struct Numbers;

impl ListRows for Numbers {
    fn len(&self) -> usize {
        TOTAL
    }

    fn cell(&self, row: usize, column: usize) -> TableCell {
        TableCell::plain(if column == 0 { row.to_string() } else { format!("row {row}.") })
    }

    fn look(&self, _row: usize) -> RowLook {
        RowLook::default()
    }

    fn hint(&self, _row: usize, _column: usize) -> Option<String> {
        None
    }
}

#[derive(Default)]
struct Shown {
    state: ListState,
    answer: ListResponse,
}

fn harness() -> Harness<'static, Shown> {
    let list = VirtualList { name: "numbers", columns: &COLUMNS, sorted: Some((0, false)) };
    let mut is_set_up = false;
    let ui = move |ui: &mut egui::Ui, shown: &mut Shown| {
        if !std::mem::replace(&mut is_set_up, true) {
            theme::install(ui.ctx());
            return;
        }
        let answer = list.show(ui, &mut shown.state, &Numbers);
        if answer.clicked.is_some() || answer.sort_by.is_some() || answer.step != 0 {
            shown.answer = answer;
        }
    };
    let mut harness = Harness::builder().with_size([400.0, 260.0]).build_ui_state(ui, Shown::default());
    harness.run_steps(3);
    harness
}

fn rows(harness: &Harness<'_, Shown>) -> Vec<String> {
    let rows = harness.query_all_by_role(egui::Role::Row);
    rows.filter_map(|row| row.accesskit_node().label()).collect()
}

#[test]
fn only_the_rows_that_are_seen_exist() {
    let mut harness = harness();
    assert_eq!(rows(&harness).first().map(String::as_str), Some("0, row 0."));
    assert!(rows(&harness).len() < 13);
    harness.state_mut().state.reveal(Reveal::Centre(9_876_543));
    harness.run_steps(2);
    assert!(rows(&harness).contains(&"9876543, row 9876543.".to_owned()));
    assert!(rows(&harness).len() < 13);
}

#[test]
fn a_click_names_its_row_and_gives_the_list_the_keyboard() {
    let mut harness = harness();
    harness.get_by_label("3, row 3.").click();
    harness.run_steps(2);
    assert_eq!(harness.state().answer.clicked, Some(3));
    assert!(has_focus(&harness.ctx));
    harness.key_press(Key::End);
    harness.run_steps(2);
    assert!(rows(&harness).last().is_some_and(|row| row.ends_with("row 9999999.")));
    harness.key_press(Key::PageUp);
    harness.run_steps(2);
    assert!(!rows(&harness).last().is_some_and(|row| row.ends_with("row 9999999.")));
    harness.key_press(Key::Home);
    harness.run_steps(2);
    assert!(rows(&harness).first().is_some_and(|row| row == "0, row 0."));
    harness.key_press(Key::ArrowDown);
    harness.run_steps(2);
    assert_eq!(harness.state().answer.step, 1);
}

#[test]
fn the_wheel_and_the_bar_scroll() {
    let mut harness = harness();
    harness.hover_at(pos2(100.0, 120.0));
    harness.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: vec2(0.0, -440.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Unknown,
        modifiers: Modifiers::NONE,
    });
    harness.run_steps(60);
    let first = rows(&harness).first().cloned();
    assert!(first.as_deref() == Some("20, row 20."), "{first:?}");
    let bar = harness.get_by_label("Scroll numbers").rect();
    harness.drag_at(bar.center());
    harness.run_steps(2);
    harness.drop_at(bar.center());
    harness.run_steps(2);
    let middle: usize =
        rows(&harness)[5].split(',').next().and_then(|text| text.parse().ok()).expect("a row");
    assert!(middle.abs_diff(TOTAL / 2) < TOTAL / 50, "{middle}");
}

#[test]
fn a_header_asks_for_its_order() {
    let mut harness = harness();
    harness.get_by_label("Sort by Name").click();
    harness.run_steps(2);
    assert_eq!(harness.state().answer.sort_by, Some(1));
}

#[test]
fn columns_can_be_widened_and_restored() {
    let mut harness = harness();
    let before = harness.get_by_label("Sort by Name").rect();
    let grip = harness.get_by_label("Width of Number").rect().center();
    harness.drag_at(grip);
    harness.run_steps(1);
    harness.hover_at(grip + vec2(40.0, 0.0));
    harness.run_steps(1);
    harness.drop_at(grip + vec2(40.0, 0.0));
    harness.run_steps(2);
    let after = harness.get_by_label("Sort by Name").rect();
    assert!((after.left() - before.left() - 40.0).abs() < 8.0, "{before:?} {after:?}");
    assert_eq!(after.right(), before.right());
}
