//! The offer of a rules file near a recording: its rules are the user's to apply.

use crate::command::Command;
use crate::theme;
use eframe::egui::{self, Panel};
use oomscope_units as units;
use std::path::Path;
use tr::tr;

/// A line that offers a rules file.
pub(super) fn ui(ui: &mut egui::Ui, rules: &Path, commands: &mut Vec<Command>) {
    let palette = theme::palette(ui);
    let fill = theme::color(palette.panel.mix(palette.accent, 0.16));
    let frame = theme::panel_frame(ui, 12, 5).fill(fill);
    Panel::top("rules nearby").resizable(false).frame(frame).show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            let hint = tr!("Let its rules say what memory is for, as --rules does");
            if ui.button(tr!("Use its rules")).on_hover_text(hint).clicked() {
                commands.push(Command::UseRules(rules.to_owned()));
            }
            let shown = units::printable(&rules.to_string_lossy());
            ui.add(egui::Label::new(tr!("{shown} is not used.", shown)).wrap());
        });
    });
}
