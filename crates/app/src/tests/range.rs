//! Marking a range, in the real application.

use crate::screenshots::Camera;
use crate::tests::{device, harness, open_path, sample};
use crate::*;
use eframe::egui::{Key, Modifiers, PointerButton, Pos2, Role, Theme};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use oomscope_model::Moment;

fn picture(harness: &Harness<'static, App>) -> egui::Rect {
    harness.get_by_role_and_label(Role::Canvas, "Allocation timeline").rect()
}

/// Drag from one point to another.
fn drag(harness: &mut Harness<'static, App>, from: Pos2, to: Pos2, modifiers: Modifiers) {
    let button =
        |pos, pressed| egui::Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers };
    harness.event(egui::Event::ModifiersChanged(modifiers));
    harness.event(egui::Event::PointerMoved(from));
    harness.run_steps(1);
    harness.event(button(from, true));
    harness.run_steps(1);
    for part in [0.5, 1.0] {
        harness.event(egui::Event::PointerMoved(from + (to - from) * part));
        harness.run_steps(1);
    }
    harness.event(button(to, false));
    harness.event(egui::Event::ModifiersChanged(Modifiers::NONE));
    harness.run_steps(4);
}

/// A point of the picture, at shares of its size.
fn at(harness: &Harness<'static, App>, x: f32, y: f32) -> Pos2 {
    let picture = picture(harness);
    picture.min + picture.size() * egui::vec2(x, y)
}

#[test]
fn a_range_is_drawn_with_ctrl_changed_at_its_ends_and_removed_with_escape() {
    let mut harness = harness();
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    harness.run_steps(3);
    let (from, to) = (at(&harness, 0.3, 0.4), at(&harness, 0.6, 0.5));
    let view = device(&mut harness).at.view;
    drag(&mut harness, from, to, Modifiers::COMMAND);
    let range = device(&mut harness).at.range().expect("a range");
    assert_eq!(device(&mut harness).at.view, view, "the drag must not move the view");
    // Behind the recording is what is projected.
    let near = |moment: Moment, share: f64| (f64::from(moment.0) / view.x1 - share).abs() < 0.02;
    assert!(near(range.from, 0.3) && near(range.to, 0.6), "{range:?}");
    // The pane has come to the front, with figures that fit the curve.
    assert!(harness.query_by_label("Net change").is_some());
    let figures = device(&mut harness).states.range.figures().cloned().expect("figures");
    let [before, after] =
        [range.from, range.to].map(|moment| i128::from(device(&mut harness).recording.active.at(moment)));
    assert_eq!((figures.range, figures.sums.net_bytes()), (range, after - before));
    // One end follows a drag without any key.
    let end = at(&harness, 0.8, 0.5);
    drag(&mut harness, to, end, Modifiers::NONE);
    let wider = device(&mut harness).at.range().expect("a range");
    assert!(wider.from == range.from && near(wider.to, 0.8), "{wider:?}");
    harness.key_press(Key::Escape);
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.range(), None);
    device(&mut harness).at.back();
    assert_eq!(device(&mut harness).at.range(), Some(wider));
    device(&mut harness).at.back();
    assert_eq!(device(&mut harness).at.range(), Some(range));
}

#[test]
fn a_range_filters_the_other_panes() {
    let mut harness = harness();
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    harness.run_steps(3);
    let (from, to) = (at(&harness, 0.3, 0.4), at(&harness, 0.6, 0.5));
    drag(&mut harness, from, to, Modifiers::COMMAND);
    harness.get_by_label("Filter to it").click();
    harness.run_steps(3);
    let figures = device(&mut harness).states.range.figures().cloned().expect("figures");
    let matches = device(&mut harness).derived.matches().cloned().expect("a filter");
    assert_eq!(matches.count() as u64, figures.sums.allocated.count);
}

#[test]
fn the_change_over_a_range_is_two_flame_graphs_that_add_up_to_it() {
    let camera = Camera::default();
    let mut harness = camera.harness([1280.0, 800.0], Theme::Dark);
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    harness.run_steps(3);
    let (from, to) = (at(&harness, 0.2, 0.4), at(&harness, 0.6, 0.5));
    drag(&mut harness, from, to, Modifiers::COMMAND);
    harness.get_by_label("Change by stack").click();
    harness.run_steps(5);
    camera.save(&harness, "change_by_stack");
    let graphs = harness.query_all_by_role_and_label(Role::Canvas, "Flame graph").count();
    assert_eq!(graphs, 2);
    let net = device(&mut harness).states.range.figures().expect("figures").sums.net_bytes();
    let stacks = &device(&mut harness).states.stacks;
    let grown = stacks.weighed().expect("growth").totals.all.weight;
    let shrunk = stacks.shrunk.weighed().expect("shrinkage").totals.all.weight;
    assert!(0 < grown && 0 < shrunk);
    assert_eq!(grown - shrunk, net);
}
