//! Small samples of surfaces with their meanings, for legends.

use crate::theme;
use eframe::egui::{self, Rect, Sense, Stroke, pos2, vec2};
use oomscope_draw::{BandTexture, Palette, Rgb};

/// Size of a sample, in points.
const SAMPLE_PX: egui::Vec2 = vec2(14.0, 10.0);

/// Space between a sample and its meaning, in points.
const GAP_PX: f32 = 4.0;

/// Height of a sample with its meaning, in points: that of a line of tools.
const HEIGHT_PX: f32 = 18.0;

/// A sample and its meaning.
pub(crate) fn swatch(ui: &mut egui::Ui, text: &str, paint: impl FnOnce(&egui::Painter, Rect)) {
    let muted = theme::color(theme::palette(ui).muted);
    let galley = ui.painter().layout_no_wrap(text.to_owned(), theme::axis_font(), muted);
    // One point more than is needed, so that the text is not cut where it is rounded.
    let width = SAMPLE_PX.x + GAP_PX + galley.size().x + 1.0;
    let (rect, response) = ui.allocate_exact_size(vec2(width, HEIGHT_PX), Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, text));
    let (left, y) = (rect.left(), rect.center().y);
    let mark = Rect::from_center_size(pos2(left + SAMPLE_PX.x / 2.0, y), SAMPLE_PX);
    paint(&ui.painter().with_clip_rect(mark.intersect(ui.clip_rect())), mark);
    let place = pos2(left + SAMPLE_PX.x + GAP_PX, y - galley.size().y / 2.0);
    ui.painter().galley(place, galley, muted);
}

/// The surface of memory that is reserved and not in use.
pub(crate) fn hatch(painter: &egui::Painter, mark: Rect, palette: &Palette) {
    painter.rect_filled(mark, 0.0, theme::color(palette.free()));
    let stroke = Stroke::new(1.0, theme::faded(palette.muted, 0.6));
    // Diagonals every 5 points. The first starts left of the sample, so that its corner is not empty.
    for i in 0..6 {
        let x = mark.left() + i as f32 * 5.0 - 4.0;
        painter.line_segment([pos2(x, mark.top()), pos2(x - mark.height(), mark.bottom())], stroke);
    }
}

/// The surface of blocks that are given back and wait for a stream.
pub(crate) fn stripe(painter: &egui::Painter, mark: Rect, palette: &Palette) {
    lined(painter, mark, palette.unknown, BandTexture::Striped, palette);
}

/// The surface of the free parts of pools in the timeline.
pub(crate) fn hollow(painter: &egui::Painter, mark: Rect, palette: &Palette) {
    lined(painter, mark, palette.muted, BandTexture::Hollow, palette);
}

fn lined(painter: &egui::Painter, mark: Rect, color: Rgb, texture: BandTexture, palette: &Palette) {
    let [surface, lines] = texture.lined().unwrap_or_default().map(|share| color.mix(palette.window, share));
    painter.rect_filled(mark, 0.0, theme::color(surface));
    // In the middle of a pixel.
    let rows = (0..).map(|i| mark.top() + 0.5 + (i * BandTexture::LINE_EVERY) as f32);
    for y in rows.take_while(|&y| y < mark.bottom()) {
        painter.hline(mark.x_range(), y, Stroke::new(1.0, theme::color(lines)));
    }
}
