//! The right side: what is selected, or else what fills the memory at the cursor.

use super::{allocation_view, contributors_view, site_view};
use crate::app::device::DeviceState;
use crate::app::navigation::Selection;
use eframe::egui;

/// Room for the scroll bar.
const SCROLL_BAR_PX: f32 = 10.0;

pub(in crate::app) fn ui(ui: &mut egui::Ui, device: &mut DeviceState) {
    egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        // The scroll bar floats over the right edge.
        ui.set_max_width(ui.available_width() - SCROLL_BAR_PX);
        match device.selection() {
            Selection::Allocation(_) => allocation_view::ui(ui, device),
            Selection::Stack(_) => site_view::ui(ui, device),
            Selection::None | Selection::Segment { .. } => contributors_view::ui(ui, device),
        }
    });
}
