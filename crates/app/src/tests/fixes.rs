//! Fixes in the real application.

use super::{device, harness, harness_with, open_path, sample, wait};
use crate::App;
use crate::device::PaneId;
use crate::work::worker::WorkMode;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use oomscope_draw::TakenAs;

/// How a fix begins that is not among the best few.
const DEAR: &str = "Compute in bf16 altogether; compute a quarter";

fn opened(name: &str) -> Harness<'static, App> {
    let mut harness = harness();
    open_path(&mut harness, sample(name));
    device(&mut harness).wanted_pane = Some(PaneId::Fixes);
    harness.set_size(eframe::egui::vec2(1280.0, 1100.0));
    harness.run_steps(4);
    harness
}

#[test]
fn the_least_change_that_fits_is_shown_with_its_code() {
    let mut harness = opened("gpt_oom_forward.pickle");
    assert!(harness.query_by_label_contains("Compute a quarter of the batch").is_some());
    assert!(harness.query_by_label_contains(DEAR).is_none(), "the best few are shown");
    harness.get_by_label_contains("All ").click();
    harness.run_steps(4);
    harness.get_by_label_contains(DEAR).click();
    harness.run_steps(4);
    let code = "float inputs likewise\n(loss_fn(model(x), y) / 4).backward()";
    assert!(harness.query_by_label_contains(code).is_some());
    assert!(harness.query_by_label_contains("Costs ").is_some());
    harness.get_by_role_and_label(eframe::egui::Role::TextInput, "Capacity").focus();
    harness.run_steps(3);
    harness.get_by_role_and_label(eframe::egui::Role::TextInput, "Capacity").type_text("80GiB");
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
    device(&mut harness).wanted_pane = Some(PaneId::Details);
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
fn the_curve_of_a_setting_is_that_of_what_is_reserved() {
    let mut harness = opened("frag_oom.pickle");
    let future = device(&mut harness).derived.future().expect("predictions");
    let after = future.after_fix.as_ref().expect("the curve of the setting that the header names");
    assert_eq!(after.taken_as, TakenAs::Reserved);
    assert_eq!(oomscope_units::bytes(after.peak_bytes()), "3.29 GiB");
}

#[test]
fn the_fixes_stand_beside_the_timeline_when_a_file_opens() {
    let mut harness = harness();
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    harness.run_steps(4);
    assert!(harness.query_by_label_contains("Compute a quarter of the batch").is_some());
    harness.get_by_role_and_label(eframe::egui::Role::Tab, "Report").click();
    harness.run_steps(4);
    assert!(harness.query_by_label("Copy as Markdown").is_some());
}

#[test]
fn own_settings_are_tried_beside_the_fixes() {
    let mut harness = opened("frag_oom.pickle");
    let curve = |harness: &mut _| device(harness).at.after_fix().map(|after| after.peak_bytes());
    harness.get_by_label_contains("Unfold Try other settings").click();
    harness.run_steps(20);
    assert!(harness.query_by_label_contains("all of 949 allocator events identical").is_some());
    let as_it_is = curve(&mut harness).expect("the curve of what is tried");
    assert_eq!(harness.query_all_by_label("step fits: no").count(), 2, "it is the program as it is");
    harness.get_by_label("Expandable segments").click();
    harness.run_steps(4);
    assert_eq!(harness.query_all_by_label("step fits: no").count(), 1);
    assert!(
        harness.query_by_label_contains("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True").is_some()
    );
    assert!(curve(&mut harness).is_some_and(|tried| tried < as_it_is));
    harness.get_by_label("Reset").click();
    harness.run_steps(4);
    assert_eq!(curve(&mut harness), Some(as_it_is));
}

#[test]
fn own_settings_are_tried_on_the_device_of_the_rows_above() {
    let mut harness = harness();
    harness.state_mut().preferences.capacity = Some(oomscope_model::Bytes(80 << 30));
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    harness.set_size(eframe::egui::vec2(1280.0, 1100.0));
    harness.run_steps(4);
    harness.get_by_label_contains("Unfold Try other settings").click_accesskit();
    harness.run_steps(20);
    assert_eq!(harness.query_all_by_label("step fits: no").count(), 0);
    assert!(harness.query_by_label_contains("GiB to spare").is_some());
}

#[test]
fn trying_remedies_can_be_stopped_and_go_on() {
    let mut harness = harness_with(WorkMode::Background);
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    device(&mut harness).wanted_pane = Some(PaneId::Fixes);
    assert!(wait(&mut harness, |harness| {
        harness.query_by_label("Stop").is_some() || harness.query_all_by_label("Copy code").next().is_some()
    }));
    let Some(stop) = harness.query_by_label("Stop") else {
        eprintln!("SKIPPED: the remedies were tried at once");
        return;
    };
    // The line may move before a pointer comes to it, when another answer arrives; the button stays the same.
    stop.click_accesskit();
    assert!(wait(&mut harness, |harness| {
        let has_stopped = harness.query_by_label("Stopped: Trying fixes").is_some();
        has_stopped || harness.query_all_by_label("Copy code").next().is_some()
    }));
    if harness.query_all_by_label("Copy code").next().is_some() {
        eprintln!("SKIPPED: the remedies were there before they were stopped");
        return;
    }
    assert!(harness.query_by_label("Stopped: Trying fixes").is_some());
    harness.get_by_label("Go on").click_accesskit();
    assert!(wait(&mut harness, |harness| harness.query_all_by_label("Copy code").next().is_some()));
    assert!(harness.query_by_label_contains("Trying fixes").is_none());
}
