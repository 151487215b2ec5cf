//! The timeline in the real application.

use crate::app::tests::{harness, open, snapshot_pickle};
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
