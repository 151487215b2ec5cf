//! Small samples of surfaces with their meanings, for legends.

use crate::app::theme;
use crate::draw::Palette;
use eframe::egui::{self, Rect, Sense, Stroke, pos2, vec2};

/// A sample and its meaning.
pub(in crate::app) fn swatch(ui: &mut egui::Ui, text: &str, paint: impl FnOnce(&egui::Painter, Rect)) {
    let muted = theme::color(theme::palette(ui).muted);
    let galley = ui.painter().layout_no_wrap(text.to_owned(), theme::axis_font(), muted);
    let (rect, response) = ui.allocate_exact_size(vec2(19.0 + galley.size().x, 18.0), Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, text));
    let mark = Rect::from_center_size(pos2(rect.left() + 7.0, rect.center().y), vec2(14.0, 10.0));
    paint(&ui.painter().with_clip_rect(mark.intersect(ui.clip_rect())), mark);
    ui.painter().galley(pos2(rect.left() + 18.0, rect.center().y - galley.size().y / 2.0), galley, muted);
}

/// The surface of memory that is reserved and not in use.
pub(in crate::app) fn hatch(painter: &egui::Painter, mark: Rect, palette: &Palette) {
    painter.rect_filled(mark, 0.0, theme::color(palette.window.mix(palette.line, 0.35)));
    let stroke = Stroke::new(1.0, theme::faded(palette.muted, 0.6));
    for i in 0..6 {
        let x = mark.left() + i as f32 * 5.0 - 4.0;
        painter.line_segment([pos2(x, mark.top()), pos2(x - mark.height(), mark.bottom())], stroke);
    }
}

/// The surface of blocks that are given back and wait for a stream.
pub(in crate::app) fn stripe(painter: &egui::Painter, mark: Rect, palette: &Palette) {
    let color = palette.accent;
    painter.rect_filled(mark, 0.0, theme::color(color.mix(palette.window, 0.65)));
    for i in 0..4 {
        let y = mark.top() + 0.5 + i as f32 * 3.0;
        painter.hline(mark.x_range(), y, Stroke::new(1.0, theme::color(color.mix(palette.window, 0.15))));
    }
}
