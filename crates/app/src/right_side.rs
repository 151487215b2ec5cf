//! What stands at the right of a line, after what is left of it: drawn as it is read, so that Tab goes through it in that order.

use eframe::egui::{self, Align, Id, Layout, Rect, Ui, UiBuilder, pos2};

/// The right side of a line. Its width is known from the frame before.
pub(super) struct RightSide {
    id: Id,
    line: Rect,
    width_px: f32,
    is_known: bool,
}

impl RightSide {
    /// The right side with a name of its own, in what is left of a line of some height in points.
    pub(super) fn of(ui: &mut Ui, name: &str, height_px: f32) -> Self {
        let id = Id::unique(("right side", name));
        let known: Option<f32> = ui.data(|data| data.get_temp(id));
        let (line, _) =
            ui.allocate_exact_size(egui::vec2(ui.available_width(), height_px), egui::Sense::empty());
        Self { id, line, width_px: known.unwrap_or(0.0), is_known: known.is_some() }
    }

    /// Draw what is at the left of it.
    pub(super) fn left_ui<R>(&self, ui: &mut Ui, contents: impl FnOnce(&mut Ui) -> R) -> R {
        let gap = if self.width_px == 0.0 { 0.0 } else { ui.spacing().item_spacing.x };
        let right = (self.line.right() - self.width_px - gap).max(self.line.left());
        part_ui(ui, Rect::from_min_max(self.line.min, pos2(right, self.line.bottom())), contents).inner
    }

    /// Draw it.
    pub(super) fn ui<R>(self, ui: &mut Ui, contents: impl FnOnce(&mut Ui) -> R) -> R {
        let left = (self.line.right() - self.width_px).max(self.line.left());
        let place = Rect::from_min_max(pos2(left, self.line.top()), self.line.max);
        let shown = part_ui(ui, place, |ui| {
            ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
            contents(ui)
        });
        let width_px = shown.response.rect.width();
        if !self.is_known || 0.5 < (width_px - self.width_px).abs() {
            ui.data_mut(|data| data.insert_temp(self.id, width_px));
            ui.ctx().request_discard("the width of the right side of a line was not known");
        }
        shown.inner
    }
}

/// Draw a part of a line.
fn part_ui<R>(ui: &mut Ui, place: Rect, contents: impl FnOnce(&mut Ui) -> R) -> egui::InnerResponse<R> {
    let layout = Layout::left_to_right(Align::Center);
    ui.scope_builder(UiBuilder::new().max_rect(place).layout(layout), contents)
}
