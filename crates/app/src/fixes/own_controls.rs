//! The settings to try.

use eframe::egui::{self, ComboBox, DragValue};
use oomscope_remedies::Own;
use oomscope_simulator::Settings;
use tr::tr;

const MIB: u64 = 1 << 20;

/// The user's choices.
pub(super) struct Controls {
    settings: Settings,
    /// The size of the batch, as a multiple of the recorded one.
    batch: f64,
}

impl Controls {
    /// Start with the recorded settings.
    pub(super) fn new(recorded: Settings) -> Self {
        Self { settings: recorded, batch: 1.0 }
    }

    /// What these choices change.
    pub(super) fn own(&self) -> Own {
        Own { settings: self.settings.clone(), batch: self.batch }
    }

    /// The controls. Without `has_batch`, another batch would change nothing.
    pub(super) fn ui(&mut self, ui: &mut egui::Ui, recorded: &Settings, has_batch: bool) {
        ui.horizontal_wrapped(|ui| {
            ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
            let hint = tr!("expandable_segments: segments that grow page by page");
            ui.checkbox(&mut self.settings.expandable_segments, tr!("Expandable segments"))
                .on_hover_text(hint);
            self.max_split_ui(ui);
            self.garbage_ui(ui);
            self.rounding_ui(ui);
            let hint = tr!("The size of the batch, as a multiple of this one");
            let batch =
                DragValue::new(&mut self.batch).range(0.05..=20.0).speed(0.01).prefix(tr!("batch × "));
            ui.add_enabled(has_batch, batch)
                .on_hover_text(hint)
                .on_disabled_hover_text(tr!("The recording shows nothing that depends on the batch"));
            let is_changed = self.settings != *recorded || self.batch.to_bits() != 1f64.to_bits();
            if is_changed && ui.button(tr!("Reset")).on_hover_text(tr!("As recorded")).clicked() {
                *self = Self::new(recorded.clone());
            }
        });
    }

    fn max_split_ui(&mut self, ui: &mut egui::Ui) {
        let text = |bytes: Option<u64>| match bytes {
            None => tr!("split all"),
            Some(bytes) => tr!("split below {} MiB", bytes / MIB),
        };
        let current = self.settings.max_split_bytes;
        let response =
            ComboBox::from_id_salt("max_split_size_mb").selected_text(text(current)).show_ui(ui, |ui| {
                for bytes in [None, Some(32), Some(64), Some(128), Some(256), Some(512), Some(1024)] {
                    let bytes = bytes.map(|mib: u64| mib * MIB);
                    ui.selectable_value(&mut self.settings.max_split_bytes, bytes, text(bytes));
                }
            });
        response.response.on_hover_text(tr!("max_split_size_mb: larger blocks are not split"));
    }

    fn garbage_ui(&mut self, ui: &mut egui::Ui) {
        let text = |part: f64| match part {
            part if part <= 0.0 => tr!("no garbage collection"),
            part => tr!("collect garbage from {} %", format_args!("{:.0}", part * 100.0)),
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
            .on_hover_text(tr!("garbage_collection_threshold: give old blocks back from this part of the allowed memory on; works only with a memory fraction"));
    }

    fn rounding_ui(&mut self, ui: &mut egui::Ui) {
        let text = |divisions: &[u32]| match divisions.first() {
            Some(&first) if divisions.iter().any(|&other| other != first) => tr!("rounding by size"),
            Some(&first) if 1 < first => tr!("round up to 1/{first} of a power of 2", first),
            _ => tr!("no rounding up"),
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
            .on_hover_text(tr!("roundup_power2_divisions: fewer different sizes, more waste in each"));
    }
}
