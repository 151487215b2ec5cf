//! Dialogs over the top of the window: nothing else can be used until they are closed.

use crate::theme;
use eframe::egui::{self, Align, Align2, Id, Layout, Modal, Ui, vec2};
use tr::tr;

/// Largest width, in points: most paths fit.
const MAX_WIDTH_PX: f32 = 720.0;

/// Space at the sides, in points.
const MARGINS_PX: f32 = 48.0;

/// Distance from the window's top, in points: the tabs stay in sight.
const TOP_PX: f32 = 44.0;

/// The layer of dialogs.
pub(super) fn id() -> Id {
    Id::unique("dialog")
}

/// A dialog as wide as the window has room for. False once the user closes it.
pub(super) fn ui(ctx: &egui::Context, title: &str, contents: impl FnOnce(&mut Ui)) -> bool {
    let area = Modal::default_area(id()).anchor(Align2::CENTER_TOP, vec2(0.0, TOP_PX));
    let mut is_open = true;
    let shown = Modal::new(id()).area(area).show(ctx, |ui| {
        ui.set_width(MAX_WIDTH_PX.min(ctx.content_rect().width() - MARGINS_PX));
        ui.horizontal(|ui| {
            ui.label(theme::strong(title, 14.0));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                is_open = !ui.button(tr!("Close")).on_hover_text("Esc").clicked();
            });
        });
        ui.separator();
        contents(ui);
    });
    ctx.accesskit_node_builder(shown.response.id, |node| {
        node.set_role(egui::accesskit::Role::Dialog);
        node.set_label(title);
        node.set_modal();
    });
    is_open
}
