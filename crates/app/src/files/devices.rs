//! The devices of a file with several: a tab for each with its memory as a line, and what happened on the others.

use crate::panes::OpenDevice;
use crate::right_side::RightSide;
use crate::theme;
use eframe::egui::{self, Panel, Rect, ScrollArea, Sense, TextStyle, pos2, vec2};
use oomscope_draw::SparkLine;
use oomscope_units as units;
use tr::tr;

/// Height of the row, in points: two short lines of text.
const ROW_PX: f32 = 38.0;

/// Width of a line of active memory, in points.
const SPARK_PX: f32 = 64.0;

/// Space between the parts of a tab, in points.
const GAP_PX: f32 = 8.0;

/// Links to other devices: more do not fit beside the tabs.
const MAX_LINKS: usize = 4;

/// The row of devices, above everything else of the file; nothing for a file with one device.
pub(super) fn ui(ui: &mut egui::Ui, devices: &[OpenDevice], sparks: &[SparkLine], current: &mut usize) {
    if devices.len() < 2 {
        return;
    }
    let frame = theme::panel_frame(ui, 8, 0);
    Panel::top("devices").exact_size(ROW_PX).resizable(false).frame(frame).show(ui, |ui| {
        let right = RightSide::of(ui, "devices", ui.available_height());
        right.left_ui(ui, |ui| tabs_ui(ui, devices, sparks, current));
        right.ui(ui, |ui| others_ui(ui, devices, current));
    });
}

fn tabs_ui(ui: &mut egui::Ui, devices: &[OpenDevice], sparks: &[SparkLine], current: &mut usize) {
    ScrollArea::horizontal().show(ui, |ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for (at, device) in devices.iter().enumerate() {
            if device_tab(ui, device, sparks.get(at), at == *current).clicked() {
                *current = at;
            }
        }
    });
}

/// The other devices that ran out of memory.
fn others_ui(ui: &mut egui::Ui, devices: &[OpenDevice], current: &mut usize) {
    let failed: Vec<usize> =
        (0..devices.len()).filter(|&at| at != *current && !devices[at].recording.ooms.is_empty()).collect();
    if failed.is_empty() {
        return;
    }
    ui.spacing_mut().item_spacing.x = 5.0;
    for &at in failed.iter().take(MAX_LINKS) {
        let device = devices[at].recording.device.to_string();
        let ooms = devices[at].recording.ooms.len();
        let hint = tr!(
            "Show this device ({} failed request)" | "Show this device ({} failed requests)" % ooms,
            units::count(ooms as u64)
        );
        let link = ui.link(device).on_hover_text(hint);
        if link.clicked() {
            *current = at;
        }
    }
    if MAX_LINKS < failed.len() {
        ui.label(tr!("and {} more", failed.len() - MAX_LINKS));
    }
    let is_other = devices[*current].recording.ooms.is_empty();
    ui.label(if is_other { tr!("ran out of memory") } else { tr!("ran out of memory, too") });
}

/// The tab of a device.
fn device_tab(
    ui: &mut egui::Ui,
    device: &OpenDevice,
    spark: Option<&SparkLine>,
    is_shown: bool,
) -> egui::Response {
    let (name, peak) = (device.recording.device.to_string(), device.derived.figures.peak.1);
    let is_failed = !device.recording.ooms.is_empty();
    let palette = theme::palette(ui);
    let text_color = ui.visuals().text_color();
    let galley = |style: TextStyle, text: String, color| {
        ui.painter().layout_no_wrap(text, style.resolve(ui.style()), color)
    };
    let title = galley(TextStyle::Body, name.clone(), text_color);
    // Other colours are hard to read on the ground of the tab that is shown.
    let color = if is_failed { palette.oom } else { palette.muted };
    let color = if is_shown { text_color } else { theme::color(color) };
    let size = peak.written(units::bytes);
    let note = if is_failed { format!("{} · {size}", tr!("OOM")) } else { size };
    let note = galley(TextStyle::Small, note, color);
    let width = SPARK_PX + 3.0 * GAP_PX + title.size().x.max(note.size().x);
    let (rect, response) = ui.allocate_exact_size(vec2(width, ROW_PX - 4.0), Sense::click());
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Tab, true, is_shown, &name));
    ground(ui, rect, &response, is_shown);
    let line = Rect::from_min_size(rect.min + vec2(GAP_PX, 6.0), vec2(SPARK_PX, rect.height() - 12.0));
    if let Some(spark) = spark {
        spark.paint(&ui.painter_at(line), line, palette);
    }
    let left = line.right() + GAP_PX;
    let texts_px = title.size().y + note.size().y;
    let top = rect.center().y - texts_px / 2.0;
    let below = top + title.size().y;
    ui.painter().galley(pos2(left, top), title, text_color);
    ui.painter().galley(pos2(left, below), note, text_color);
    let failed = device.recording.ooms.len();
    let mut hint = tr!("{name}: peak active {size}", name, size = peak.written(units::bytes_exact));
    if is_failed {
        let ooms = tr!("{} failed request" | "{} failed requests" % failed, units::count(failed as u64));
        hint = format!("{hint} · {ooms}");
    }
    response.on_hover_text(hint)
}

fn ground(ui: &egui::Ui, rect: Rect, response: &egui::Response, is_shown: bool) {
    let palette = theme::palette(ui);
    if is_shown {
        ui.painter().rect_filled(rect, 4.0, ui.visuals().selection.bg_fill);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, 4.0, theme::color(palette.line));
    }
    if response.has_focus() {
        let stroke = egui::Stroke::new(1.5, theme::color(palette.accent));
        ui.painter().rect_stroke(rect, 4.0, stroke, egui::StrokeKind::Inside);
    }
}

/// The lines of the devices of a file; none for a single device, where nobody sees it.
pub(super) fn sparks(devices: &[OpenDevice]) -> Vec<SparkLine> {
    if devices.len() < 2 {
        return Vec::new();
    }
    devices.iter().map(|device| SparkLine::of(&device.recording)).collect()
}
