//! The report in the real application.

use super::{device, harness, harness_with, open_path, sample, wait};
use crate::App;
use crate::device::Selection;
use crate::work::worker::WorkMode;
use eframe::egui::{Key, OutputCommand, Role};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use oomscope_analysis::site_label;
use oomscope_model::Moment;

#[test]
fn the_verdict_leads_to_a_report_whose_links_move_cursor_and_selection() {
    let mut harness = harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    harness.get_by_label_contains("Out of memory due to fragmentation").click();
    harness.run_steps(4);
    assert!(harness.query_by_label("critical · fragmentation").is_some(), "the report is in front");
    let at_oom = device(&mut harness).at.cursor;
    device(&mut harness).at.move_to(Moment(5));
    harness.run_steps(2);
    harness.get_by_label("Evidence").click_accesskit();
    harness.run_steps(30);
    harness.get_by_role_and_label(Role::Link, "event 2,528").click_accesskit();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.cursor, at_oom);

    device(&mut harness).at.move_to(Moment(5));
    harness.run_steps(2);
    harness
        .get_all_by_role_and_label(Role::Link, "index.py:60 add")
        .next()
        .expect("a line of code")
        .click_accesskit();
    harness.run_steps(3);
    let device = device(&mut harness);
    assert_eq!(device.at.cursor, at_oom);
    let Selection::Stack(stack) = device.at.selection() else { panic!("a stack is selected") };
    assert_eq!(site_label(device.recording.snapshot(), stack), "index.py:60 add");
    device.at.back();
    assert_eq!((device.at.cursor, device.at.selection()), (Moment(5), Selection::None));
}

#[test]
fn the_header_names_the_line_and_the_fix() {
    let mut harness = harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    let at_oom = device(&mut harness).at.cursor;
    device(&mut harness).at.move_to(Moment(5));
    harness.run_steps(2);
    for text in [
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        "simulated: would finish the step (3.29 GiB of 4.11 GiB)",
    ] {
        assert!(harness.query_all_by_label(text).next().is_some(), "{text}");
    }
    harness.get_by_role_and_label(Role::Link, "index.py:60 add: keeps 1.44 GiB unused").click();
    harness.run_steps(3);
    let shown = device(&mut harness);
    assert_eq!(shown.at.cursor, at_oom);
    let Selection::Stack(stack) = shown.at.selection() else { panic!("a stack is selected") };
    assert_eq!(site_label(shown.recording.snapshot(), stack), "index.py:60 add");

    harness.get_by_label("Copy verdict").click();
    harness.run_steps(1);
    let copied = harness.output().platform_output.commands.iter().find_map(|command| match command {
        OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    });
    let lines: Vec<String> = copied.expect("something is copied").lines().map(str::to_owned).collect();
    assert!(lines[0].starts_with("Out of memory due to fragmentation"), "{lines:?}");
    assert!(lines[1].starts_with("index.py:60 add"), "{lines:?}");
    assert!(lines.contains(&"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True".to_owned()), "{lines:?}");
    assert!(lines[lines.len() - 1].starts_with("Simulated: Set expandable_segments to True"), "{lines:?}");
}

#[test]
fn the_header_of_a_healthy_recording_blames_no_line() {
    let mut harness = harness();
    open_path(&mut harness, sample("annotated.pickle"));
    assert!(harness.query_by_label("Copy verdict").is_none());
    assert!(harness.query_by_label_contains("Peak 2.17 GiB").is_some());
    assert!(harness.query_by_label("would lower the peak:").is_some());
    for text in ["compute the loss in chunks", "1.25 GiB at the peak instead of 2.17 GiB"] {
        assert!(harness.query_all_by_label(text).next().is_some(), "{text}");
    }
    harness.get_by_label("show all fixes").click();
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("Predicted, not measured").is_some());
}

#[test]
fn a_report_about_the_cursor_is_another_one_and_the_header_stays() {
    let mut harness = harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    harness.get_by_label_contains("Out of memory due to fragmentation").click();
    device(&mut harness).at.move_to(Moment(100));
    harness.run_steps(3);
    harness.get_by_label("At the cursor").click();
    harness.run_steps(3);
    assert!(harness.query_all_by_label_contains("findings after event 99").count() == 1);
    assert!(harness.query_by_label("critical · fragmentation").is_none());
    assert!(harness.query_by_label_contains("Out of memory due to fragmentation").is_some());
}

#[test]
fn a_report_can_be_copied_for_a_ticket() {
    let mut harness = harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    harness.get_by_label_contains("Out of memory due to fragmentation").click();
    harness.run_steps(3);
    harness.get_by_label("Copy as Markdown").click();
    harness.run_steps(1);
    let text = harness.output().platform_output.commands.iter().find_map(|command| match command {
        OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    });
    let text = text.expect("something is copied");
    assert!(text.starts_with("## Out of memory due to fragmentation"), "{text}");
    assert!(text.contains("`frag_oom.pickle`"), "{text}");
}

#[test]
fn the_blocks_of_a_finding_are_outlined_until_they_are_asked_for_again() {
    let mut harness = harness();
    open_path(&mut harness, sample("frag_oom.pickle"));
    device(&mut harness).at.move_to(Moment(5));
    harness.run_steps(3);
    harness.get_by_label("Show these 43 blocks in all views").click_accesskit();
    harness.run_steps(3);
    let shown = device(&mut harness);
    let outline = shown.at.outlined().expect("something is outlined");
    let ids = outline.allocations();
    assert_eq!((ids.len(), shown.at.cursor), (43, outline.moment));
    let live: Vec<_> = shown.recording.lifetimes.live_at(outline.moment).collect();
    assert!(ids.iter().all(|id| live.contains(id)));
    assert_eq!(outline.label, "43 blocks around 2.15 GiB free, index.py:60");
    let found = shown.derived.filtering.found().expect("the rest is filtered out");
    assert!(found.matches.iter().eq(ids.iter().copied()));
    // One step leads back to where it was clicked, with everything in sight.
    let at_finding = shown.at.view;
    assert_ne!(at_finding, shown.at.full, "the lifetime of the blocks fills the view");
    shown.at.back();
    harness.run_steps(3);
    let before = device(&mut harness);
    assert_eq!((before.at.cursor, before.at.view), (Moment(5), before.at.full));
    assert!(before.at.outlined().is_none() && before.derived.filtering.found().is_none());
    before.at.forward();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.view, at_finding);
    // The filter goes alone.
    harness.get_by_label("43 blocks of the report").click();
    harness.run_steps(3);
    let shown = device(&mut harness);
    assert!(shown.at.outlined().is_some() && shown.derived.filtering.found().is_none());
    harness.get_by_label("Show these 43 blocks in all views").click_accesskit();
    harness.run_steps(3);
    assert!(device(&mut harness).at.outlined().is_none());
}

#[test]
fn pictures_fade_what_the_verdict_is_not_about_until_a_filter_or_the_user_says_otherwise() {
    let mut harness = harness();
    open_path(&mut harness, sample("leak_eval_losses.pickle"));
    let kept = |harness: &mut _| {
        let shown = device(harness);
        let marked = shown.at.marked().map(|outline| outline.label.clone());
        let shade = shown.at.shade(shown.derived.matches()).map(|(matches, _)| matches.count());
        (marked, shade)
    };
    let label = "11.5 GiB kept of train.py:105, 2 calls".to_owned();
    assert_eq!(kept(&mut harness), (Some(label.clone()), Some(116)));
    let shown = device(&mut harness);
    assert_eq!(shown.at.view, shown.at.full, "nothing has moved");
    assert!(shown.derived.matches().is_none(), "tables and figures are of everything");
    let steps: Vec<String> =
        shown.at.marked().expect("a mark").steps().iter().map(|step| step.label.clone()).collect();
    assert_eq!(steps, ["5.75 GiB, iteration 0", "5.75 GiB, iteration 1"]);

    harness.key_press(Key::V);
    harness.run_steps(3);
    assert_eq!(kept(&mut harness), (None, None));
    harness.get_by_label("Finding").click();
    harness.run_steps(3);
    assert_eq!(kept(&mut harness), (Some(label.clone()), Some(116)));

    device(&mut harness).at.filter("size>1GiB".to_owned());
    harness.run_steps(3);
    let (marked, shade) = kept(&mut harness);
    assert_eq!(marked, Some(label), "the bracket stays");
    assert!(shade.is_some_and(|count| count != 116), "the filter says what fades");
}

#[test]
fn where_nothing_failed_nothing_fades() {
    let mut harness = harness();
    open_path(&mut harness, sample("annotated.pickle"));
    assert!(device(&mut harness).at.marked().is_none() && harness.query_by_label("Finding").is_none());
}

#[test]
fn the_header_never_changes_its_height() {
    let mut harness = harness_with(WorkMode::Background);
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    let tools = |harness: &Harness<'static, App>| harness.get_by_label("Filter").rect().top();
    let before = tools(&harness);
    assert!(wait(&mut harness, |harness| device(harness).derived.predictions().is_some()));
    harness.run_steps(3);
    assert_eq!(tools(&harness), before);
}

#[test]
fn the_header_has_the_advice_of_a_leak_with_its_own_outcome() {
    let mut harness = harness();
    open_path(&mut harness, sample("leak_eval_losses.pickle"));
    let code = "with torch.no_grad():   # or torch.inference_mode()";
    assert!(harness.query_all_by_label(code).next().is_some());
    // The graph is that of an evaluation, so this change is simulated, and no other one stands beside it.
    assert_eq!(harness.query_all_by_label_contains("simulated: ").count(), 1);
    assert!(harness.query_by_label_contains("15.2 GiB of 23.6 GiB").is_some());
    harness.get_by_label("Copy verdict").click();
    harness.run_steps(1);
    let copied = harness.output().platform_output.commands.iter().find_map(|command| match command {
        OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    });
    let copied = copied.expect("something is copied");
    assert_eq!(copied.matches("torch.no_grad()").count(), 1, "{copied}");
}
