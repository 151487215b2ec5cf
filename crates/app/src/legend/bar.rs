//! The meanings of colours: a bar of shares, and a row for each with its bytes.

use super::rows::{LegendRow, Live};
use crate::pointed::{self, Thing};
use crate::texts;
use crate::theme;
use eframe::egui::{self, Align2, Rect, Sense, pos2, vec2};
use oomscope_analysis::InferredPart;
use oomscope_model::Bytes;
use oomscope_report as report;
use oomscope_units as units;
use tr::tr;

/// Height of the bar of shares, in points.
const BAR_PX: f32 = 10.0;

/// Height of a row, in points: a line of text with a little space.
const ROW_PX: f32 = 19.0;

/// Width of the sample of the colour with the space behind it, in points.
const SWATCH_PX: f32 = 16.0;

/// Width of the share behind the bytes, in points: room for `100.0 %`.
const SHARE_PX: f32 = 52.0;

/// Smallest width, in points, for which rows have shares.
const MIN_WIDTH_FOR_SHARE_PX: f32 = 240.0;

/// Show rows, with shares of a total; returns the filter of the one that was clicked.
pub(super) fn ui(ui: &mut egui::Ui, rows: &[LegendRow], total: Bytes) -> Option<String> {
    bar_ui(ui, rows);
    let mut clicked = None;
    for row in rows {
        if row_ui(ui, row, total) {
            clicked.clone_from(&row.query);
        }
    }
    let is_inferred = |row: &LegendRow| row.live.is_some_and(|live| live.inferred_bytes != 0);
    if rows.iter().any(is_inferred) {
        let note = tr!("Faded, {}", report::CATEGORY_LEGEND);
        ui.add(egui::Label::new(theme::muted(ui, note).size(11.0)).wrap());
    }
    clicked
}

/// A bar of the shares. Inferred bytes are drawn lighter.
fn bar_ui(ui: &mut egui::Ui, rows: &[LegendRow]) {
    let shares = || rows.iter().filter_map(|row| row.color.zip(row.live));
    let all: f64 = shares().map(|(_, live)| live.bytes.or_zero().as_f64()).sum();
    if all == 0.0 {
        return;
    }
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), BAR_PX), Sense::hover());
    let (mut left, palette) = (rect.left(), theme::palette(ui));
    for (color, live) in shares() {
        let known_bytes = live.bytes - live.inferred_bytes;
        for (bytes, color) in [(known_bytes, color), (live.inferred_bytes, palette.inferred(color))] {
            let width = (f64::from(rect.width()) * bytes.or_zero().as_f64() / all) as f32;
            let part = Rect::from_min_max(pos2(left, rect.top()), pos2(left + width, rect.bottom()));
            ui.painter().rect_filled(part, 0.0, theme::color(color));
            left += width;
        }
    }
    ui.add_space(2.0);
}

/// One meaning; true when it was clicked.
fn row_ui(ui: &mut egui::Ui, row: &LegendRow, total: Bytes) -> bool {
    let sense = if row.query.is_some() { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_PX), sense);
    let size = row.live.map_or_else(String::new, size_text);
    let name = format!("{} {size}", row.label);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, name.trim_end()));
    if response.hovered() && row.query.is_some() {
        ui.painter().rect_filled(rect.expand2(vec2(4.0, 0.0)), 4.0, ui.visuals().faint_bg_color);
    }
    swatch_ui(ui, rect, row);
    text_ui(ui, rect, row, size, total);
    pointed::on(&response, || Some(Thing::Meaning { label: row.label.clone(), query: row.query.clone()? }));
    if row.query.is_none() {
        response.on_hover_text(hint(row));
        return false;
    }
    response.on_hover_text(hint(row)).on_hover_cursor(egui::CursorIcon::PointingHand).clicked()
}

fn is_all_inferred(live: Live) -> bool {
    live.bytes != 0 && InferredPart::of(live.bytes, live.inferred_bytes) == InferredPart::All
}

fn size_text(live: Live) -> String {
    let sign = if is_all_inferred(live) { "≈ " } else { "" };
    format!("{sign}{}", units::bytes(live.bytes))
}

fn swatch_ui(ui: &egui::Ui, rect: Rect, row: &LegendRow) {
    let Some(color) = row.color else { return };
    let swatch = Rect::from_center_size(pos2(rect.left() + 5.0, rect.center().y), vec2(10.0, 10.0));
    let color =
        if row.live.is_some_and(is_all_inferred) { theme::palette(ui).inferred(color) } else { color };
    ui.painter().rect_filled(swatch, 1.0, theme::color(color));
}

/// The label, cut if it is too long, the bytes, and the share.
fn text_ui(ui: &egui::Ui, rect: Rect, row: &LegendRow, size: String, total: Bytes) {
    let palette = theme::palette(ui);
    let (text, muted) = (theme::color(palette.text), theme::color(palette.muted));
    let (y, font) = (rect.center().y, egui::TextStyle::Body.resolve(ui.style()));
    // What is not there now stays in its place, and recedes.
    let is_there = row.live.is_none_or(|live| live.bytes != 0);
    let color = if is_there { text } else { muted };
    let share = row.live.filter(|_| MIN_WIDTH_FOR_SHARE_PX <= rect.width());
    let right = rect.right() - if share.is_some() { SHARE_PX } else { 0.0 };
    let figure = ui.painter().text(pos2(right, y), Align2::RIGHT_CENTER, size, font.clone(), color);
    if let Some(live) = share {
        let words = units::percent(live.bytes, total);
        ui.painter().text(pos2(rect.right(), y), Align2::RIGHT_CENTER, words, theme::axis_font(), muted);
    }
    let left = rect.left() + if row.color.is_some() { SWATCH_PX } else { 0.0 };
    let mut job = egui::text::LayoutJob::simple_singleline(row.label.clone(), font, color);
    job.wrap = egui::text::TextWrapping::truncate_at_width((figure.left() - left - 8.0).max(0.0));
    let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
    ui.painter().galley(pos2(left, y - galley.size().y / 2.0), galley, color);
}

fn hint(row: &LegendRow) -> String {
    let mut lines = vec![row.label.clone()];
    if let Some(live) = row.live {
        lines.push(texts::in_blocks(&units::bytes_exact(live.bytes), live.blocks));
        if live.inferred_bytes != 0 {
            lines.push(tr!("≈ {} of them inferred", units::bytes_exact(live.inferred_bytes)));
        }
    }
    lines.extend(row.query.as_ref().map(|query| tr!("Click to filter: {query}", query)));
    lines.join("\n")
}
