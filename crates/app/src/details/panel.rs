//! The right side: the selection, or without one the largest contributors at the cursor.

use super::state::State;
use super::{allocation_view, contributors_view, segment_view, site_view};
use crate::device::{Pane, PaneCtx, Selection};
use eframe::egui;

/// Room for the scroll bar, in points.
const SCROLL_BAR_PX: f32 = 10.0;

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            // The scroll bar floats over the right edge.
            ui.set_max_width(ui.available_width() - SCROLL_BAR_PX);
            match ctx.at.selection() {
                Selection::Allocation(id) => allocation_view::ui(ui, ctx, self, id),
                Selection::Stack(stack) => site_view::ui(ui, ctx, self, stack),
                Selection::Segment { addr } => segment_view::ui(ui, ctx, self, addr),
                Selection::None => contributors_view::ui(ui, ctx, self),
            }
        });
    }

    fn keep(&mut self, old: &Self) {
        self.shows_internal_frames = old.shows_internal_frames;
    }
}
