//! The help: every key, and the mouse.

use crate::keys::{self, MOUSE};
use crate::texts;
use crate::theme;
use eframe::egui::{self, Align2, ScrollArea, Window};
use tr::tr;

/// Room for the title and the frame of the help, and some of the window around it, in points.
const AROUND_PX: f32 = 90.0;

/// Smallest height of a line, in points: that of its text, since nothing in it is pressed.
const ROW_PX: f32 = 17.0;

pub(super) fn ui(ctx: &egui::Context, is_open: &mut bool) {
    let window = Window::new(tr!("Keyboard and mouse")).id(egui::Id::unique("keyboard and mouse"));
    let window = window.open(is_open).collapsible(false).resizable(false);
    let height_px = ctx.content_rect().height() - AROUND_PX;
    window.anchor(Align2::CENTER_CENTER, egui::Vec2::ZERO).show(ctx, |ui| {
        ScrollArea::vertical().max_height(height_px).min_scrolled_height(height_px).show(ui, |ui| {
            ui.horizontal_top(|ui| {
                let keys = keys::help();
                // Two columns of the same height; the mouse ends the second.
                let (first, second) = keys.split_at((keys.len() + MOUSE.len()).div_ceil(2).min(keys.len()));
                let mouse = MOUSE.map(|(name, does)| (texts::translated(name), does));
                table(ui, "keys", first.iter().cloned());
                ui.add_space(20.0);
                table(ui, "keys and mouse", second.iter().cloned().chain(mouse));
            });
        });
    });
}

fn table(ui: &mut egui::Ui, name: &str, rows: impl Iterator<Item = (String, &'static str)>) {
    egui::Grid::new(name).num_columns(2).min_row_height(ROW_PX).spacing([12.0, 4.0]).show(ui, |ui| {
        for (keys, does) in rows {
            ui.label(theme::strong(keys, 13.0));
            ui.label(theme::muted(ui, texts::translated(does)));
            ui.end_row();
        }
    });
}
