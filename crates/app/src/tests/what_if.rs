//! Other allocator settings in the real application.

use super::{device, harness, open_path, sample};
use crate::App;
use crate::device::PaneId;
use eframe::egui::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

fn opened(name: &str) -> Harness<'static, App> {
    let mut harness = harness();
    open_path(&mut harness, sample(name));
    device(&mut harness).wanted_pane = Some(PaneId::WhatIf);
    harness.set_size(eframe::egui::vec2(1280.0, 1100.0));
    harness.run_steps(4);
    harness
}

#[test]
fn expandable_segments_pass_the_oom_of_a_fragmented_run() {
    let mut harness = opened("frag_oom.pickle");
    assert!(harness.query_by_label_contains("all of 949 allocator events identical").is_some());
    harness.get_by_label("Try useful settings").click();
    harness.run_steps(4);
    assert!(harness.query_by_label("OOM at event 2,528").is_some());
    harness.get_by_label("Expandable segments").click();
    harness.run_steps(4);
    assert!(harness.query_by_label("step fits").is_some());
    assert!(harness.query_by_label("expandable_segments:True").is_some());
    harness.get_by_label("Segment map at the cursor").click();
    harness.run_steps(4);
    let map = harness.get_by_role_and_label(Role::Canvas, "Simulated segment map").rect();
    assert!(60.0 < map.height());
    harness.get_by_label("Reset").click();
    harness.run_steps(4);
    assert!(harness.query_by_label("expandable_segments:True").is_none());
}

#[test]
fn the_useful_settings_are_tried_at_once_and_the_smallest_change_is_marked() {
    let harness = opened("frag_oom.pickle");
    assert!(1 < harness.query_all_by_label_contains("step fits").count());
    assert!(harness.query_by_label("The smallest change that finishes the step:").is_some());
}
