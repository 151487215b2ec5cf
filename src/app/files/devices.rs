//! The devices of a file with several: a tab for each with its memory as a line, and what happened on the others.

use super::open_file::OpenFile;
use crate::app::theme;
use crate::draw::SparkLine;
use crate::units;
use eframe::egui::{self, Align, Layout, Panel, Rect, ScrollArea, Sense, TextStyle, pos2, vec2};

/// Height of the row, in points: two short lines of text.
const ROW_PX: f32 = 38.0;

/// Width of a line of active memory, in points.
const SPARK_PX: f32 = 64.0;

/// Space between the parts of a tab, in points.
const GAP_PX: f32 = 8.0;

/// Links to other devices: more do not fit beside the tabs.
const MAX_LINKS: usize = 4;

/// The row of devices, above everything else of the file; nothing for a file with one device.
pub(super) fn ui(ui: &mut egui::Ui, file: &mut OpenFile) {
    if file.devices.len() < 2 {
        return;
    }
    let mut chosen = file.current;
    let frame = theme::panel_frame(ui, 8, 0);
    Panel::top("devices").exact_size(ROW_PX).resizable(false).frame(frame).show(ui, |ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            others_ui(ui, file, &mut chosen);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ScrollArea::horizontal().show(ui, |ui| {
                    ui.spacing_mut().item_spacing.x = 2.0;
                    for at in 0..file.devices.len() {
                        if device_tab(ui, file, at).clicked() {
                            chosen = at;
                        }
                    }
                });
            });
        });
    });
    file.current = chosen;
}

/// The other devices that ran out of memory. From right to left.
fn others_ui(ui: &mut egui::Ui, file: &OpenFile, chosen: &mut usize) {
    let failed: Vec<usize> = (0..file.devices.len())
        .filter(|&at| at != file.current && !file.devices[at].recording.ooms.is_empty())
        .collect();
    if failed.is_empty() {
        return;
    }
    ui.spacing_mut().item_spacing.x = 5.0;
    let too = if file.devices[file.current].recording.ooms.is_empty() { "" } else { ", too" };
    ui.label(format!("ran out of memory{too}"));
    if MAX_LINKS < failed.len() {
        ui.label(format!("and {} more", failed.len() - MAX_LINKS));
    }
    for &at in failed.iter().take(MAX_LINKS).rev() {
        let device = file.devices[at].recording.device.to_string();
        let ooms = units::counted(file.devices[at].recording.ooms.len(), "failed request");
        let link = ui.link(device).on_hover_text(format!("Show this device ({ooms})"));
        if link.clicked() {
            *chosen = at;
        }
    }
}

/// The tab of a device.
fn device_tab(ui: &mut egui::Ui, file: &OpenFile, at: usize) -> egui::Response {
    let device = &file.devices[at];
    let (name, peak) = (device.recording.device.to_string(), device.derived.figures.peak.1);
    let is_failed = !device.recording.ooms.is_empty();
    let palette = theme::palette(ui);
    let text_color = ui.visuals().text_color();
    let galley = |style: TextStyle, text: String, color| ui.painter().layout_no_wrap(text, style.resolve(ui.style()), color);
    let title = galley(TextStyle::Body, name.clone(), text_color);
    let (note, color) = if is_failed { ("OOM · ", palette.oom) } else { ("", palette.muted) };
    let note = galley(TextStyle::Small, format!("{note}{}", units::bytes(peak)), theme::color(color));
    let width = SPARK_PX + 3.0 * GAP_PX + title.size().x.max(note.size().x);
    let (rect, response) = ui.allocate_exact_size(vec2(width, ROW_PX - 4.0), Sense::click());
    let is_shown = at == file.current;
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Tab, true, is_shown, &name));
    ground(ui, rect, &response, is_shown);
    let spark = Rect::from_min_size(rect.min + vec2(GAP_PX, 6.0), vec2(SPARK_PX, rect.height() - 12.0));
    if let Some(line) = file.sparks.get(at) {
        line.paint(&ui.painter_at(spark), spark, palette);
    }
    let left = spark.right() + GAP_PX;
    let texts_px = title.size().y + note.size().y;
    let top = rect.center().y - texts_px / 2.0;
    let below = top + title.size().y;
    ui.painter().galley(pos2(left, top), title, text_color);
    ui.painter().galley(pos2(left, below), note, text_color);
    let failed = device.recording.ooms.len();
    let ooms = if is_failed { format!(" · {}", units::counted(failed, "failed request")) } else { String::new() };
    response.on_hover_text(format!("{name}: peak active {}{ooms}", units::bytes_exact(peak)))
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
pub(super) fn sparks(devices: &[crate::app::panes::OpenDevice]) -> Vec<SparkLine> {
    if devices.len() < 2 {
        return Vec::new();
    }
    devices.iter().map(|device| SparkLine::of(&device.recording)).collect()
}
