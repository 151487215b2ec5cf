//! Remedies in the real application.

use super::{device, harness, harness_with, open_path, sample, wait};
use crate::App;
use crate::device::PaneId;
use crate::work::worker::WorkMode;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

/// How a fix begins that is not among the best few.
const DEAR: &str = "Compute in bf16 altogether; compute a quarter";

fn opened(name: &str) -> Harness<'static, App> {
    let mut harness = harness();
    open_path(&mut harness, sample(name));
    device(&mut harness).wanted_pane = Some(PaneId::Remedies);
    harness.set_size(eframe::egui::vec2(1280.0, 1100.0));
    harness.run_steps(4);
    harness
}

#[test]
fn the_least_change_that_fits_is_shown_with_its_code() {
    let mut harness = opened("gpt_oom_forward.pickle");
    assert!(
        harness
            .query_by_label_contains(
                "The cheapest change that finishes the step within 23.6 GiB: compute a quarter"
            )
            .is_some()
    );
    assert!(harness.query_by_label_contains(DEAR).is_none(), "the best few are shown");
    harness.get_by_role(eframe::egui::Role::CheckBox).click();
    harness.run_steps(4);
    harness.get_by_label_contains(DEAR).click();
    harness.run_steps(4);
    let code = "float inputs likewise\n(loss_fn(model(x), y) / 4).backward()";
    assert!(harness.query_by_label_contains(code).is_some());
    assert!(harness.query_by_label_contains("Costs ").is_some());
    harness.get_by_label("Capacity").click();
    harness.run_steps(2);
    let field = harness.get_by_role_and_label(eframe::egui::Role::TextInput, "Capacity");
    field.type_text("80GiB");
    harness.run_steps(4);
    assert!(harness.query_by_label("The program finishes the step within 80.0 GiB as it is.").is_some());
}

#[test]
fn a_fix_that_is_looked_at_has_its_curve_in_the_timeline() {
    let mut harness = opened("gpt_oom_forward.pickle");
    let peak = |harness: &mut _| device(harness).at.after_fix().map(|after| after.peak_bytes());
    let advised = peak(&mut harness).expect("the curve of the fix that the header names");
    let row = harness.get_by_label_contains("Compute attention without its scores").rect().center();
    harness.hover_at(row);
    harness.run_steps(3);
    let pointed = peak(&mut harness).expect("a curve");
    assert_ne!(advised, pointed);
    device(&mut harness).wanted_pane = Some(PaneId::Segments);
    harness.run_steps(4);
    assert_eq!(peak(&mut harness), Some(advised), "it goes with the view");
    device(&mut harness).at.marks_verdict = false;
    assert_eq!(peak(&mut harness), None);
}

#[test]
fn bars_say_what_they_show() {
    let harness = opened("gpt_oom_forward.pickle");
    let bars = harness.get_all_by_label_contains(" reserved, 48.7 GiB as it is, 23.6 GiB at most");
    assert!(1 < bars.count());
}

#[test]
fn a_setting_changes_no_request_and_has_no_curve() {
    let mut harness = opened("frag_oom.pickle");
    assert!(device(&mut harness).derived.future().is_some_and(|future| future.after_fix.is_none()));
}

#[test]
fn trying_remedies_can_be_stopped_and_go_on() {
    let mut harness = harness_with(WorkMode::Background);
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    device(&mut harness).wanted_pane = Some(PaneId::Remedies);
    assert!(wait(&mut harness, |harness| {
        harness.query_by_label("Stop").is_some()
            || harness.query_by_label_contains("The cheapest change").is_some()
    }));
    let Some(stop) = harness.query_by_label("Stop") else {
        eprintln!("SKIPPED: the remedies were tried at once");
        return;
    };
    stop.click();
    harness.run_steps(3);
    assert!(harness.query_by_label("Stopped: Trying fixes").is_some());
    harness.get_by_label("Go on").click();
    assert!(wait(&mut harness, |harness| harness.query_by_label_contains("The cheapest change").is_some()));
    assert!(harness.query_by_label_contains("Trying fixes").is_none());
}
