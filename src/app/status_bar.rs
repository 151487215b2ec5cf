//! The bottom line: the totals at the cursor, and the latest message or a reminder of keys.

use crate::app::device::Standpoint;
use crate::app::theme;
use crate::model::Timeline;
use crate::report;
use eframe::egui;

pub(super) fn ui(ui: &mut egui::Ui, timeline: &Timeline, at: &Standpoint, notice: Option<&str>) {
    ui.horizontal_centered(|ui| {
        ui.label(theme::muted(ui, report::moment_text(timeline, at.cursor)));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let keys = "wheel zooms · drag pans · arrows step · P peak · O OOM · F fit · ? help";
            if let Some(notice) = notice {
                ui.add(egui::Label::new(theme::small(notice)).truncate());
                return;
            }
            ui.add(egui::Label::new(theme::muted(ui, keys).size(11.0)).truncate());
        });
    });
}
