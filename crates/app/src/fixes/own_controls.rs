//! The settings to try.

use super::simulating::WhatIfRequest;
use crate::theme;
use eframe::egui::{self, ComboBox, DragValue, TextEdit};
use oomscope_simulator::Settings;
use oomscope_units as units;

const MIB: u64 = 1 << 20;

/// The user's choices, some still as they are written.
pub(super) struct Controls {
    settings: Settings,
    capacity: String,
    /// Factor on the requests of stacks that repeat.
    batch: f64,
    /// The useful settings are tried, too.
    sweeps: bool,
}

impl Controls {
    /// Start with the recorded settings.
    pub(super) fn new(recorded: Settings) -> Self {
        Self { settings: recorded, capacity: String::new(), batch: 1.0, sweeps: true }
    }

    /// The request that these choices make; without the capacity while it cannot be read.
    pub(super) fn request(&self) -> WhatIfRequest {
        let capacity = units::parse_bytes(&self.capacity).and_then(|bytes| u64::try_from(bytes).ok());
        WhatIfRequest {
            settings: self.settings.clone(),
            capacity_bytes: capacity.filter(|&bytes| 0 < bytes),
            batch: self.batch,
            sweeps: self.sweeps,
        }
    }

    /// The controls. `limit_bytes` is the limit that holds without a capacity.
    pub(super) fn ui(&mut self, ui: &mut egui::Ui, recorded: &Settings, limit_bytes: Option<u64>) {
        ui.horizontal_wrapped(|ui| {
            ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
            self.sweep_ui(ui);
            let hint = "expandable_segments: segments that grow page by page";
            ui.checkbox(&mut self.settings.expandable_segments, "Expandable segments").on_hover_text(hint);
            self.max_split_ui(ui);
            self.garbage_ui(ui);
            self.rounding_ui(ui);
            self.capacity_ui(ui, limit_bytes);
            let hint =
                "What the requests of stacks that repeat are multiplied by: a guess at another batch size";
            let batch = DragValue::new(&mut self.batch).range(0.05..=20.0).speed(0.01).prefix("batch × ");
            ui.add(batch).on_hover_text(hint);
            let is_changed = self.settings != *recorded || self.batch.to_bits() != 1f64.to_bits();
            if is_changed && ui.button("Reset").on_hover_text("As recorded").clicked() {
                *self = Self { sweeps: self.sweeps, ..Self::new(recorded.clone()) };
            }
        });
        if !self.capacity.is_empty() && units::parse_bytes(&self.capacity).is_none() {
            ui.label(theme::muted(ui, "Expected a size such as 80GiB, 512MiB or 1024"));
        }
    }

    fn sweep_ui(&mut self, ui: &mut egui::Ui) {
        let hint = "Try all useful settings and look for the smallest change with which everything fits";
        let button = egui::Button::new("Try useful settings").selected(self.sweeps);
        if ui.add(button).on_hover_text(hint).clicked() {
            self.sweeps = !self.sweeps;
        }
    }

    fn max_split_ui(&mut self, ui: &mut egui::Ui) {
        let text = |bytes: Option<u64>| match bytes {
            None => "split all".to_owned(),
            Some(bytes) => format!("split below {} MiB", bytes / MIB),
        };
        let current = self.settings.max_split_bytes;
        let response =
            ComboBox::from_id_salt("max_split_size_mb").selected_text(text(current)).show_ui(ui, |ui| {
                for bytes in [None, Some(32), Some(64), Some(128), Some(256), Some(512), Some(1024)] {
                    let bytes = bytes.map(|mib: u64| mib * MIB);
                    ui.selectable_value(&mut self.settings.max_split_bytes, bytes, text(bytes));
                }
            });
        response.response.on_hover_text("max_split_size_mb: larger blocks are not split");
    }

    fn garbage_ui(&mut self, ui: &mut egui::Ui) {
        let text = |part: f64| match part {
            part if part <= 0.0 => "no garbage collection".to_owned(),
            part => format!("collect garbage from {:.0} %", part * 100.0),
        };
        let current = self.settings.garbage_collection_threshold;
        let response = ComboBox::from_id_salt("garbage_collection_threshold")
            .selected_text(text(current))
            .show_ui(ui, |ui| {
                for part in [0.0, 0.6, 0.8, 0.9] {
                    ui.selectable_value(&mut self.settings.garbage_collection_threshold, part, text(part));
                }
            });
        response
            .response
            .on_hover_text("garbage_collection_threshold: give old blocks back from this part of the allowed memory on; works only with a memory fraction");
    }

    fn rounding_ui(&mut self, ui: &mut egui::Ui) {
        let text = |divisions: &[u32]| match divisions.first() {
            Some(&first) if divisions.iter().any(|&other| other != first) => "rounding by size".to_owned(),
            Some(&first) if 1 < first => format!("round up to 1/{first} of a power of 2"),
            _ => "no rounding up".to_owned(),
        };
        let current = text(&self.settings.roundup_power2_divisions);
        let response =
            ComboBox::from_id_salt("roundup_power2_divisions").selected_text(current).show_ui(ui, |ui| {
                for divisions in [0, 2, 4, 8, 16] {
                    let all = self.settings.roundup_power2_divisions.map(|_| divisions);
                    ui.selectable_value(&mut self.settings.roundup_power2_divisions, all, text(&all));
                }
            });
        response
            .response
            .on_hover_text("roundup_power2_divisions: fewer different sizes, more waste in each");
    }

    fn capacity_ui(&mut self, ui: &mut egui::Ui, limit_bytes: Option<u64>) {
        /// Width of the field, in points: room for `80.00 GiB`.
        const WIDTH_PX: f32 = 84.0;
        let label = ui.label(theme::muted(ui, "Capacity"));
        let hint = limit_bytes.map_or_else(
            || "80GiB".to_owned(),
            |bytes| units::bytes(i64::try_from(bytes).unwrap_or(i64::MAX)),
        );
        let field = TextEdit::singleline(&mut self.capacity).hint_text(hint).desired_width(WIDTH_PX);
        let meaning = "What PyTorch may reserve in all; derived from a recorded OOM if not given";
        ui.add(field).labelled_by(label.id).on_hover_text(meaning);
    }
}
