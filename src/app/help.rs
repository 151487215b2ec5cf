//! The help: every key, and the mouse.

use crate::app::keys::{MOUSE, SHORTCUTS};
use crate::app::theme;
use eframe::egui::{self, Align2, Window};

pub(super) fn ui(ctx: &egui::Context, is_open: &mut bool) {
    let window = Window::new("Keyboard and mouse").open(is_open).collapsible(false).resizable(false);
    window.anchor(Align2::CENTER_CENTER, egui::Vec2::ZERO).show(ctx, |ui| {
        ui.horizontal_top(|ui| {
            let keys = SHORTCUTS.iter().filter(|shortcut| !shortcut.name.is_empty());
            table(ui, "keys", keys.map(|shortcut| (shortcut.name, shortcut.does)));
            ui.add_space(24.0);
            table(ui, "mouse", MOUSE.into_iter());
        });
    });
}

fn table(ui: &mut egui::Ui, name: &str, rows: impl Iterator<Item = (&'static str, &'static str)>) {
    egui::Grid::new(name).num_columns(2).spacing([16.0, 6.0]).show(ui, |ui| {
        for (keys, does) in rows {
            ui.label(theme::strong(keys, 13.0));
            ui.label(theme::muted(ui, does));
            ui.end_row();
        }
    });
}
