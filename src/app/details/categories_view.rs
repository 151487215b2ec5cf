//! The categories of live memory: a bar of shares, and a row for each.

use crate::analysis::{Category, CategoryBytes, InferredPart};
use crate::app::theme;
use crate::{report, units};
use eframe::egui::{self, Rect, Sense, pos2, vec2};

/// Height of the bar of shares, in points.
const BAR_PX: f32 = 10.0;

/// Height of a row, in points: a line of text with a little space.
const ROW_PX: f32 = 20.0;

/// Width of the sample of the colour, in points.
const SWATCH_PX: f32 = 16.0;

/// Width of the share behind the bytes, in points: room for `100.0 %`.
const SHARE_PX: f32 = 52.0;

/// Smallest width, in points, for which rows have shares.
const MIN_WIDTH_FOR_SHARE_PX: f32 = 240.0;

/// Strength of the colour of inferred bytes, as a factor.
const INFERRED: f32 = 0.5;

/// Show categories with their bytes and blocks; returns the one that was clicked.
pub(in crate::app) fn ui(ui: &mut egui::Ui, categories: &[CategoryBytes], total: i64) -> Option<Category> {
    if categories.is_empty() {
        return None;
    }
    bar_ui(ui, categories);
    let mut clicked = None;
    for row in categories {
        if row_ui(ui, row, total) {
            clicked = Some(row.category);
        }
    }
    if categories.iter().any(|row| row.inferred_bytes != 0) {
        ui.label(theme::muted(ui, format!("Faded, {}", report::CATEGORY_LEGEND)));
    }
    ui.add_space(10.0);
    ui.label(theme::muted(ui, "By site"));
    ui.add_space(2.0);
    clicked
}

/// A bar of the shares. Inferred bytes are drawn lighter.
fn bar_ui(ui: &mut egui::Ui, categories: &[CategoryBytes]) {
    let palette = theme::palette(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), BAR_PX), Sense::hover());
    let all: f64 = categories.iter().map(|row| row.bytes.max(0) as f64).sum();
    let mut left = rect.left();
    for row in categories {
        let color = theme::color(palette.category(row.category));
        let known_bytes = row.bytes.saturating_sub(row.inferred_bytes);
        for (bytes, color) in [(known_bytes, color), (row.inferred_bytes, color.gamma_multiply(INFERRED))] {
            let width = (f64::from(rect.width()) * bytes.max(0) as f64 / all.max(1.0)) as f32;
            let part = Rect::from_min_max(pos2(left, rect.top()), pos2(left + width, rect.bottom()));
            ui.painter().rect_filled(part, 0.0, color);
            left += width;
        }
    }
    ui.add_space(4.0);
}

/// One category; true when it was clicked.
fn row_ui(ui: &mut egui::Ui, row: &CategoryBytes, total: i64) -> bool {
    let CategoryBytes { category, bytes, inferred_bytes, count } = *row;
    let palette = theme::palette(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_PX), Sense::click());
    let is_inferred = InferredPart::of(bytes, inferred_bytes) == InferredPart::All;
    let size = format!("{}{}", if is_inferred { "≈ " } else { "" }, units::bytes(bytes));
    let name = format!("{} {size}", category.label());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
    if response.hovered() {
        ui.painter().rect_filled(rect.expand2(vec2(4.0, 0.0)), 4.0, ui.visuals().faint_bg_color);
    }
    let (text, muted) = (theme::color(palette.text), theme::color(palette.muted));
    let (y, font) = (rect.center().y, egui::TextStyle::Body.resolve(ui.style()));
    let swatch = Rect::from_center_size(pos2(rect.left() + 5.0, y), vec2(10.0, 10.0));
    let strength = if is_inferred { INFERRED } else { 1.0 };
    let color = theme::color(palette.category(category)).gamma_multiply(strength);
    ui.painter().rect_filled(swatch, 1.0, color);
    let put = |x: f32, align: egui::Align2, words: String, font: egui::FontId, color| {
        ui.painter().text(pos2(x, y), align, words, font, color)
    };
    // If there is not room for all, the share goes: the bar shows it as well.
    let has_share = MIN_WIDTH_FOR_SHARE_PX <= rect.width();
    let right = rect.right() - if has_share { SHARE_PX } else { 0.0 };
    let figure = put(right, egui::Align2::RIGHT_CENTER, size, font.clone(), text);
    let left = rect.left() + SWATCH_PX;
    let mut job = egui::text::LayoutJob::simple_singleline(category.label().to_owned(), font, text);
    job.wrap = egui::text::TextWrapping::truncate_at_width((figure.left() - left - 8.0).max(0.0));
    let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
    ui.painter().galley(pos2(left, y - galley.size().y / 2.0), galley, text);
    if has_share {
        put(
            rect.right(),
            egui::Align2::RIGHT_CENTER,
            units::percent(bytes, total),
            theme::axis_font(),
            muted,
        );
    }
    let inferred = match inferred_bytes {
        0 => String::new(),
        _ => format!("\n≈ {} of them inferred", units::bytes_exact(inferred_bytes)),
    };
    let hint = format!(
        "{} in {}{inferred}\nClick to filter: category:{}",
        units::bytes_exact(bytes),
        units::counted(count, "block"),
        category.key()
    );
    response.on_hover_text(hint).on_hover_cursor(egui::CursorIcon::PointingHand).clicked()
}
