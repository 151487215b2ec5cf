//! One snapshot in a list: active memory as a line, name, verdict, peak.

use super::glances::{Look, Scan};
use super::names::elided;
use crate::theme;
use eframe::egui::{self, Align, Align2, Layout, Rect, Sense, TextStyle, UiBuilder, pos2, vec2};
use oomscope_diagnosis::Severity;
use oomscope_snapshot::load::FileStamp;
use oomscope_units as units;
use tr::tr;

/// Height of a row, in points: two lines of text with some space.
pub(super) const ROW_PX: f32 = 46.0;

/// Size of the line of active memory, in points.
const SPARK_PX: egui::Vec2 = vec2(112.0, 32.0);

/// Width of the column of figures, in points: a peak fits; with a version, a size and a date.
const PEAK_PX: f32 = 68.0;
const VERSION_PX: f32 = 172.0;

/// Share of the width of the texts that a name may take: its semibold letters are wider than those it is measured
/// with.
const NAME_SHARE: f32 = 0.9;

/// Space around columns, in points.
const GAP_PX: f32 = 12.0;

/// A file of a list.
pub(super) struct SnapshotRow<'a> {
    pub(super) name: &'a str,
    /// Muted text beside the name, such as its folder.
    pub(super) note: &'a str,
    /// Shown when the pointer is over the row.
    pub(super) hint: &'a str,
    /// The verdict stands here until one is known; else that it is on its way.
    pub(super) until_known: Option<&'a str>,
    pub(super) look: Look,
    /// Its size and date are shown, where that helps to choose.
    pub(super) version: Option<FileStamp>,
    /// False for a file that is no longer there.
    pub(super) is_enabled: bool,
}

/// Draw a row; the response is clicked when the file is to be opened.
pub(super) fn ui(ui: &mut egui::Ui, row: &SnapshotRow<'_>) -> egui::Response {
    let size = vec2(ui.available_width(), ROW_PX);
    let sense = if row.is_enabled { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(size, sense);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Link, row.is_enabled, row.name));
    if !ui.is_rect_visible(rect) {
        return response;
    }
    ground(ui, rect, &response);
    let inner = rect.shrink2(vec2(8.0, 6.0));
    let spark = Rect::from_min_size(pos2(inner.left(), inner.center().y - SPARK_PX.y / 2.0), SPARK_PX);
    spark_ui(ui, spark, &row.look);
    let figures_px = if row.version.is_some() { VERSION_PX } else { PEAK_PX };
    let figures = Rect::from_min_max(pos2(inner.right() - figures_px, inner.top()), inner.max);
    figures_ui(ui, figures, row);
    let texts = Rect::from_min_max(
        pos2(spark.right() + GAP_PX, inner.top()),
        pos2(figures.left() - GAP_PX, inner.bottom()),
    );
    texts_ui(ui, texts, row);
    response.on_hover_ui(|ui| hint_ui(ui, row)).on_hover_cursor(if row.is_enabled {
        egui::CursorIcon::PointingHand
    } else {
        egui::CursorIcon::Default
    })
}

fn ground(ui: &egui::Ui, rect: Rect, response: &egui::Response) {
    let palette = theme::palette(ui);
    if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(rect, 4.0, theme::faded(palette.line, 0.5));
    }
    if response.has_focus() {
        let stroke = egui::Stroke::new(1.5, theme::color(palette.accent));
        ui.painter().rect_stroke(rect, 4.0, stroke, egui::StrokeKind::Inside);
    }
}

fn spark_ui(ui: &egui::Ui, rect: Rect, look: &Look) {
    let palette = theme::palette(ui);
    ui.painter().rect_filled(rect, 3.0, theme::color(palette.window));
    match look {
        Look::Done(Scan::Found(glance)) => {
            glance.spark.paint(&ui.painter_at(rect), rect.shrink(3.0), palette);
        }
        Look::Done(Scan::Failed(_)) | Look::Waiting | Look::Large => {
            let text = if *look == Look::Waiting { "…" } else { "–" };
            let font = TextStyle::Small.resolve(ui.style());
            ui.painter().text(rect.center(), Align2::CENTER_CENTER, text, font, theme::color(palette.muted));
        }
    }
}

fn figures_ui(ui: &mut egui::Ui, rect: Rect, row: &SnapshotRow<'_>) {
    let layout = Layout::top_down(Align::Max);
    ui.scope_builder(UiBuilder::new().max_rect(rect).layout(layout), |ui| {
        ui.spacing_mut().item_spacing.y = 1.0;
        match &row.look {
            Look::Done(Scan::Found(glance)) => plain(ui, glance.peak.written(units::bytes).into()),
            _ => plain(ui, " ".into()),
        }
        if let Some(stamp) = row.version {
            let day = stamp.modified_us().map(|us| format!(" · {}", minute(us)));
            let text = format!("{}{}", units::bytes_short(stamp.bytes() as i64), day.unwrap_or_default());
            let text = theme::muted(ui, text).size(11.0);
            plain(ui, text);
        }
    });
}

fn texts_ui(ui: &mut egui::Ui, rect: Rect, row: &SnapshotRow<'_>) {
    ui.scope_builder(UiBuilder::new().max_rect(rect), |ui| {
        ui.spacing_mut().item_spacing = vec2(8.0, 1.0);
        ui.horizontal(|ui| {
            ui.spacing_mut().interact_size.y = 0.0;
            name_ui(ui, row, rect.width() * NAME_SHARE);
            let note = note(row);
            if !note.is_empty() {
                let note = theme::muted(ui, note).size(11.0);
                ui.add(egui::Label::new(note).selectable(false).truncate());
            }
        });
        let (text, severity) = verdict(row);
        let palette = theme::palette(ui);
        let text = egui::RichText::new(text).size(12.0);
        let color = match severity {
            Some(Severity::Critical) => theme::color(palette.text),
            _ => theme::color(palette.muted),
        };
        ui.add(egui::Label::new(text.color(color)).selectable(false).truncate());
    });
}

/// Painted: assistive technology has the name from the row itself.
fn name_ui(ui: &mut egui::Ui, row: &SnapshotRow<'_>, width_px: f32) {
    let palette = theme::palette(ui);
    let color = theme::color(if row.is_enabled { palette.text } else { palette.muted });
    let text = theme::strong(elided(ui, row.name, &TextStyle::Body, width_px), 13.0);
    let text = egui::WidgetText::from(text).into_galley(
        ui,
        Some(egui::TextWrapMode::Extend),
        f32::INFINITY,
        TextStyle::Body,
    );
    let (rect, _) = ui.allocate_exact_size(text.size(), Sense::hover());
    ui.painter().galley(rect.min, text, color);
}

/// The device that the verdict is about, where there are several, and what the list says.
fn note(row: &SnapshotRow<'_>) -> String {
    let device = match &row.look {
        Look::Done(Scan::Found(glance)) => glance.device.as_deref(),
        _ => None,
    };
    let parts = device.into_iter().chain(Some(row.note).filter(|note| !note.is_empty()));
    parts.collect::<Vec<_>>().join(" · ")
}

/// The second line of a row, and how much it matters.
fn verdict(row: &SnapshotRow<'_>) -> (String, Option<Severity>) {
    let text = match &row.look {
        Look::Done(Scan::Found(glance)) => {
            return (glance.title.clone(), Some(glance.severity));
        }
        _ if !row.is_enabled => tr!("no longer there"),
        Look::Done(Scan::Failed(why)) => why.to_string(),
        Look::Large => tr!("large: right-click to look into it, click to open it"),
        Look::Waiting => row.until_known.unwrap_or("…").to_owned(),
    };
    (text, None)
}

fn hint_ui(ui: &mut egui::Ui, row: &SnapshotRow<'_>) {
    ui.label(row.hint);
    if let Look::Done(Scan::Found(glance)) = &row.look {
        ui.label(theme::strong(&glance.title, 13.0));
        let peak = glance.peak.written(units::bytes_exact);
        ui.label(match &glance.device {
            Some(device) => tr!("Peak of active memory of {device}: {peak}", device, peak),
            None => tr!("Peak of active memory: {peak}", peak),
        });
        ui.label(theme::muted(ui, tr!("The line is active memory over events; red marks failed requests.")));
    }
}

/// A text that leaves clicks to the row.
fn plain(ui: &mut egui::Ui, text: egui::RichText) {
    ui.add(egui::Label::new(text).selectable(false));
}

/// `2023-11-14 22:13`, in UTC.
fn minute(us: i64) -> String {
    units::date_time_us(us).chars().take(16).collect()
}
