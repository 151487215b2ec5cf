//! The right side: what is selected, or else what fills the memory at the cursor.

use super::state::State;
use super::{allocation_view, contributors_view, site_view};
use crate::app::device::{PaneCtx, Selection};
use eframe::egui;

/// Room for the scroll bar.
const SCROLL_BAR_PX: f32 = 10.0;

pub(in crate::app) fn ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State) {
    egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        // The scroll bar floats over the right edge.
        ui.set_max_width(ui.available_width() - SCROLL_BAR_PX);
        match ctx.at.selection() {
            Selection::Allocation(_) => allocation_view::ui(ui, ctx, state),
            Selection::Stack(_) => site_view::ui(ui, ctx, state),
            Selection::None | Selection::Segment { .. } => contributors_view::ui(ui, ctx, state),
        }
    });
}
