//! What a file opens with: the fixes, and the view that its verdict calls for, whatever was open last.

use super::*;
use crate::device::PaneId;
use crate::device::Selection;
use eframe::egui::Modifiers;
use oomscope_diagnosis::FindingId;

/// Bring a pane to the front.
fn show(harness: &mut Harness<'static, App>, pane: PaneId) {
    device(harness).wanted_pane = Some(pane);
    harness.run_steps(4);
}

fn has(harness: &Harness<'static, App>, role: Role, name: &str) -> bool {
    harness.query_all_by_role_and_label(role, name).next().is_some()
}

fn has_fixes(harness: &Harness<'static, App>) -> bool {
    has(harness, Role::TextInput, "Capacity")
}

/// Samples with the id of their verdict, and what the view has that it calls for.
const VERDICTS: [(&str, FindingId, Role, &str); 3] = [
    ("frag_oom.pickle", FindingId::Fragmentation, Role::Canvas, "Segment map"),
    ("leak_eval_losses.pickle", FindingId::Leak, Role::Table, "iterations"),
    ("gpt_oom_forward.pickle", FindingId::Capacity, Role::Canvas, "Flame graph"),
];

#[test]
fn a_file_opens_with_the_fixes_and_the_view_of_its_verdict() {
    let mut harness = harness();
    for (name, verdict, role, view) in VERDICTS {
        open_path(&mut harness, sample(name));
        assert_eq!(device(&mut harness).derived.verdict().map(|found| found.id), Some(verdict), "{name}");
        assert!(has_fixes(&harness) && has(&harness, role, view), "{name} does not show {view}");
        show(&mut harness, PaneId::Events);
        show(&mut harness, PaneId::Details);
        assert!(!has_fixes(&harness) && !has(&harness, role, view));
    }
    // What is open already is not opened by going there.
    harness.key_press_modifiers(Modifiers::CTRL, Key::Tab);
    harness.run_steps(4);
    assert!(!has_fixes(&harness) && has(&harness, Role::Table, "events"));
}

#[test]
fn panes_of_an_earlier_window_keep_their_places_but_not_the_front() {
    let mut before = harness();
    open_path(&mut before, sample("frag_oom.pickle"));
    show(&mut before, PaneId::Details);
    show(&mut before, PaneId::Events);
    before.get_by_label("Line below Timeline").focus();
    before.run_steps(2);
    for _ in 0..3 {
        before.key_press(Key::ArrowUp);
        before.run_steps(3);
    }
    let place = |harness: &Harness<'static, App>| {
        harness.get_by_role_and_label(Role::Canvas, "Allocation timeline").rect()
    };
    let (layout, lines) = (before.state().layout.clone(), place(&before));
    let mut harness = harness();
    harness.state_mut().layout = layout.or_default();
    open_path(&mut harness, sample("frag_oom.pickle"));
    assert!(has_fixes(&harness) && has(&harness, Role::Canvas, "Segment map"));
    assert!(!has(&harness, Role::Table, "events"));
    assert_eq!(place(&harness), lines, "the user's own arrangement");
}

#[test]
fn what_the_user_shows_before_the_verdict_is_known_stays_in_front() {
    let mut harness = harness_with(WorkMode::Background);
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    show(&mut harness, PaneId::Events);
    assert!(wait(&mut harness, |harness| device(harness).derived.verdict().is_some()));
    assert!(has(&harness, Role::Table, "events"));
}

#[test]
fn no_file_finds_a_pane_scrolled_or_unfolded_as_another_left_it() {
    let mut harness = Harness::builder()
        .with_size([900.0, 600.0])
        .with_theme(Theme::Dark)
        .build_eframe(|cc| App::new(&cc.egui_ctx, WorkMode::Blocking));
    let _folder = open(&mut harness, &std::fs::read(sample("frag_oom.pickle")).expect("a sample"));
    let first = |harness: &Harness<'static, App>| {
        harness
            .get_all_by_label_contains("blocks in all views")
            .next()
            .expect("a button of the verdict")
            .rect()
    };
    let top = |harness: &Harness<'static, App>| first(harness).top();
    let unfolded = |harness: &Harness<'static, App>| harness.query_all_by_label_contains("Fold ").count();
    let (start, folds) = (top(&harness), unfolded(&harness));
    let at = first(&harness).center();
    harness.event(egui::Event::PointerMoved(at));
    harness.run_steps(2);
    for _ in 0..10 {
        harness.event(wheel(-30.0));
        harness.run_steps(3);
    }
    harness.get_all_by_label_contains("Unfold ").next().expect("something to unfold").scroll_to_me();
    harness.run_steps(4);
    harness.get_all_by_label_contains("Unfold ").next().expect("something to unfold").click();
    harness.run_steps(10);
    let scrolled = top(&harness);
    assert!(scrolled < start - 20.0 && folds < unfolded(&harness), "{scrolled} {start}");
    // The same file goes on where the user was.
    show(&mut harness, PaneId::Events);
    harness.key_press(Key::F5);
    harness.run_steps(2);
    let is_loaded = |harness: &mut Harness<'static, App>| {
        harness.query_by_label_contains("Loading the file again").is_none()
    };
    assert!(wait(&mut harness, is_loaded));
    assert_eq!((top(&harness), has(&harness, Role::Table, "events")), (scrolled, true));
    assert!(folds < unfolded(&harness));
    open_path(&mut harness, sample("frag_oom.pickle"));
    assert_eq!((top(&harness), unfolded(&harness)), (start, folds), "a file that is opened anew");
}

#[test]
fn a_link_to_another_device_opens_the_file_there() {
    let mut harness = harness();
    let ctx = harness.ctx.clone();
    let mut place = oomscope_report::notes::Place::default();
    for device_shown in [0, 1] {
        place.device = Some(device_shown);
        harness.state_mut().open(Input::File(sample("two_devices_oom.pickle")), &ctx);
        harness.state_mut().documents.last_mut().expect("a file").visit(place.clone());
        assert!(wait(&mut harness, |harness| {
            let document = harness.state_mut().documents.last_mut();
            document.is_some_and(|document| document.open_file().is_some())
        }));
        assert_eq!(device(&mut harness).recording.device.0, device_shown);
        assert!(has_fixes(&harness), "device {device_shown}");
        device(&mut harness).at.select(Selection::None);
        show(&mut harness, PaneId::Details);
    }
}

#[test]
fn peaks_that_may_have_been_higher_are_no_bare_numbers() {
    let mut harness = harness();
    open_path(&mut harness, sample("ring_overflow.pickle"));
    harness.run_steps(4);
    let recording = &device(&mut harness).recording;
    let peaks = [recording.peak_active(), recording.peak_reserved()];
    for text in peaks.map(|(_, peak)| peak.written(oomscope_units::bytes)) {
        assert!(text.starts_with("at least "), "{text}");
        assert!(has(&harness, Role::Link, &text), "the status bar does not say {text}");
    }
}

#[test]
fn a_predicted_file_says_what_is_needed_and_what_stood_in() {
    const GIB: i64 = 1 << 30;
    let text = format!(
        r#"{{"segments": [], "device_traces": [[{{"action": "alloc", "addr": 4096, "size": 512, "stream": 0, "frames": []}}]],
        "oomscope": {{"estimate": {{"program": "train.py", "steps": 2, "error_share": 0.03,
            "needed": [{{"name": "H100", "total_bytes": {}, "context_bytes": 0, "needed_bytes": {}, "fits": true}}],
            "notes": [{{"what": "nonzero() took all elements", "where": "/me/train.py:9", "count": 3}}]}}}}}}"#,
        80 * GIB,
        10 * GIB
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("predicted.json");
    std::fs::write(&path, text).expect("the folder can be written to");
    let mut harness = harness();
    open_path(&mut harness, path);
    harness.run_steps(4);
    let said = "in 2 steps. Needs 10.0 GiB (±3 %) of 80.0 GiB (H100): fits.";
    assert!(harness.query_by_label_contains(said).is_some());
    assert!(harness.query_by_label_contains("nonzero()").is_none());
    harness.get_by_label("Unfold What stands in for values that are not known").click();
    harness.run_steps(8);
    assert!(harness.query_by_label("stands in: nonzero() took all elements (train.py:9, 3 times)").is_some());
}
