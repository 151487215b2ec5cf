//! A folder as the ranks of a job.

use super::files::{open_folder, rows};
use super::{device, harness, sample, wait};
use crate::files::document::Document;
use eframe::egui::Role;
use egui_kittest::kittest::Queryable as _;
use oomscope_analysis::filter::quoted;

#[test]
fn a_folder_is_shown_as_the_ranks_of_a_job() {
    let mut harness = harness();
    open_folder(&mut harness, &sample("ranks"));
    harness.get_by_label("Ranks").click();
    assert!(wait(&mut harness, |harness| {
        harness.query_by_label_contains("8 files · 1 ran out of memory · peaks").is_some()
    }));
    assert!(harness.query_by_label_contains("First failure: rank 3").is_some());
    assert!(harness.query_by_label_contains("The others then: rank 0: 2.05 GiB reserved").is_some());
    harness.get_by_label_contains("rank 3, peak 3.32 GiB, reserved 3.89 GiB, OOM at event 1,702").click();
    assert!(wait(&mut harness, |harness| { harness.query_by_label_contains("Out of memory").is_some() }));
    assert_eq!(harness.state_mut().documents.len(), 2);
    // Back in the folder, its files are a list again.
    harness.state_mut().current = 0;
    harness.run_steps(2);
    harness.get_by_label("List").click();
    harness.run_steps(2);
    assert_eq!(rows(&harness).len(), 8);
}

#[test]
fn a_rank_that_is_not_like_the_others_is_named_in_the_list_and_compared_in_one_click() {
    let mut harness = harness();
    harness.state_mut().glances.may_scan = true;
    open_folder(&mut harness, &sample("ranks"));
    assert!(wait(&mut harness, |harness| {
        harness.query_by_label("rank 3 is an outlier: its peak is 3.32 GiB, the median 1.10 GiB").is_some()
    }));
    harness.get_by_label("show the ranks").click();
    assert!(wait(&mut harness, |harness| harness.query_by_label("Compare with the median").is_some()));
    let line = harness.get_by_role_and_label(Role::Link, "ddp.py:28 forward");
    line.click();
    assert!(wait(&mut harness, |harness| {
        let document = harness.state_mut().documents.get_mut(1);
        document.and_then(Document::open_file).is_some()
    }));
    harness.run_steps(3);
    assert_eq!(device(&mut harness).at.query, format!("site:{}", quoted("ddp.py:28 forward")));
    assert!(device(&mut harness).derived.matches().is_some_and(|found| found.count() != 0));

    harness.state_mut().current = 0;
    harness.run_steps(2);
    harness.get_by_label("Compare with the median").click();
    assert!(wait(&mut harness, |harness| {
        let file =
            harness.state().documents.iter().filter(|document| document.input().path().is_some()).count();
        file == 3 && harness.query_by_label("this device").is_some()
    }));
    assert_eq!(harness.state().documents[harness.state().current].title(), "rank3_memory_snapshot.pickle.gz");
}
