//! The pane *Compare* in the real application.

use super::{device, harness, open_path, sample, wait};
use crate::app::App;
use crate::app::panes::Pane;
use crate::model::Moment;
use eframe::egui::{Role, pos2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

/// Two recordings of a program before and after an edit; the second is shown.
fn edited() -> Harness<'static, App> {
    let mut harness = harness();
    open_path(&mut harness, sample("before_edit.pickle.gz"));
    open_path(&mut harness, sample("after_edit.pickle.gz"));
    device(&mut harness).wanted_pane = Some(Pane::Compare);
    harness.run_steps(6);
    harness
}

#[test]
fn another_open_file_is_compared_at_its_peak_and_a_row_filters() {
    let mut harness = edited();
    let sentence =
        "Peak 921 MiB → 2.62 GiB: activations of train.py forward (train.py:51) 80.0 MiB → 1.80 GiB";
    assert!(harness.query_by_label_contains(sentence).is_some());
    let row = "256 MiB, 1.97 GiB, +1.72 GiB, grown, activations";
    harness.get_by_role_and_label(Role::Row, row).click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.query, "category:activation");
    harness.get_by_label("By line").click();
    harness.run_steps(3);
    let line = "80.0 MiB, 720 MiB, +640 MiB, grown, train.py:40 forward (A: line 37)";
    harness.get_by_role_and_label(Role::Row, line).click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.query, "site:\"train.py:40 forward\"");
}

#[test]
fn cursors_of_both_files_move_together() {
    let mut harness = edited();
    harness.get_by_label("Curves").click();
    harness.run_steps(3);
    let rect = harness.get_by_role_and_label(Role::Canvas, "Both curves").rect();
    let (ours, theirs) = cursors(&mut harness);
    let at = pos2(rect.left() + 0.3 * rect.width(), rect.center().y);
    harness.drag_at(at);
    harness.run_steps(2);
    harness.drop_at(at);
    harness.run_steps(3);
    let (moved, also) = cursors(&mut harness);
    assert_ne!(moved, ours);
    assert_ne!(also, theirs);
}

/// The cursors of the file that is shown and of the other one.
fn cursors(harness: &mut Harness<'static, App>) -> (Moment, Moment) {
    let [other, shown] = [0, 1].map(|at| {
        let file = harness.state_mut().documents[at].open_file().expect("an open file");
        file.device().expect("a device").at.cursor
    });
    (shown, other)
}

#[test]
fn a_file_alone_compares_its_own_moments_and_devices() {
    let mut harness = harness();
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    device(&mut harness).wanted_pane = Some(Pane::Compare);
    harness.run_steps(4);
    assert!(harness.query_by_label_contains("Choose another moment").is_some());
    open_path(&mut harness, sample("two_devices_oom.pickle"));
    device(&mut harness).wanted_pane = Some(Pane::Compare);
    harness.run_steps(6);
    // The other file comes before the other device.
    assert!(harness.query_by_label_contains("Peak ").is_some());
    harness.state_mut().close(0);
    harness.run_steps(6);
    assert!(wait(&mut harness, |harness| {
        harness.query_by_label_contains("two_devices_oom.pickle, device 0").is_some()
    }));
}

#[test]
fn a_closed_file_is_let_go() {
    let mut harness = edited();
    let file = harness.state_mut().documents[0].open_file().expect("an open file");
    let weak = std::sync::Arc::downgrade(file.device().expect("a device").recording.snapshot());
    harness.state_mut().close(0);
    harness.run_steps(4);
    assert!(wait(&mut harness, |_| weak.strong_count() == 0), "{} handles", weak.strong_count());
}
