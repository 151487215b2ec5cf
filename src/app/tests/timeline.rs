//! The timeline in the real application.

use crate::app::device::TimelineMode;
use crate::app::tests::{device, harness, open, open_path, sample, snapshot_pickle};
use crate::app::*;
use eframe::egui::{Pos2, Role};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

/// Leave the pointer where it is until the tooltip is there.
fn hover(harness: &mut Harness<'static, App>, at: Pos2) {
    harness.hover_at(at);
    harness.run_steps(4);
}

#[test]
fn the_wall_clock_is_in_the_tooltip() {
    let mut harness = harness();
    let _folder = open(&mut harness, &snapshot_pickle());
    // Every event is some seconds after 2023-11-14 22:13:20 UTC.
    let picture = harness.get_by_role_and_label(Role::Canvas, "Allocation timeline").rect();
    hover(&mut harness, Pos2::new(picture.right() - 60.0, picture.bottom() - 20.0));
    assert!(harness.query_by_label_contains("2023-11-14 22:").is_some(), "no wall clock at a block");
    hover(&mut harness, Pos2::new(picture.center().x, picture.bottom() + 10.0));
    assert!(harness.query_by_label_contains("2023-11-14 22:").is_some(), "no wall clock at the axis");
}

#[test]
fn the_legend_tells_only_what_the_bands_show() {
    let mut harness = harness();
    open_path(&mut harness, sample("gpt_oom_forward.pickle"));
    harness.run_steps(3);
    harness.get_by_label("activations").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).filter_query, "category:activation");
    harness.get_by_label("activations").click();
    harness.run_steps(3);
    assert_eq!(device(&mut harness).filter_query, "");
    // Reserved memory serves many categories: it is told apart by stacks.
    device(&mut harness).mode = TimelineMode::Segments;
    harness.run_steps(3);
    assert!(harness.query_by_label("activations").is_none());
}
