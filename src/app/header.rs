//! What happened, and the figures of the device.

use crate::app::device::DeviceState;
use crate::app::panes::Pane;
use crate::app::theme;
use crate::diagnosis::Severity;
use crate::units;
use eframe::egui::{self, Sense};

/// Width of the coloured left edge.
const EDGE_PX: f32 = 4.0;

pub(super) fn ui(ui: &mut egui::Ui, device: &mut DeviceState, title: &str) {
    let palette = theme::palette(ui);
    // Asked for in every frame, also while the report itself is not shown.
    device.report(ui.ctx());
    let has_oom = !device.timeline().ooms.is_empty();
    let verdict = device.diagnosing.verdict();
    let is_critical = verdict.map_or(has_oom, |(severity, _)| *severity == Severity::Critical);
    let edge = theme::color(if is_critical { palette.oom } else { palette.accent });
    let title_text = verdict.map_or(device.figures.verdict.clone(), |(_, title)| title.clone());
    let frame = egui::Frame::NONE.inner_margin(egui::Margin { left: 16, right: 12, top: 8, bottom: 8 });
    let area = frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        let verdict = ui.add(egui::Label::new(theme::strong(title_text, 15.0)).wrap().sense(Sense::click()));
        let hint = "Show the report";
        if verdict.on_hover_text(hint).on_hover_cursor(egui::CursorIcon::PointingHand).clicked() {
            device.wanted_pane = Some(Pane::Report);
        }
        ui.horizontal_wrapped(|ui| figures_ui(ui, device, title));
    });
    let mut bar = area.response.rect;
    bar.set_width(EDGE_PX);
    ui.painter().rect_filled(bar, 0.0, edge);
}

fn figures_ui(ui: &mut egui::Ui, device: &mut DeviceState, title: &str) {
    ui.spacing_mut().item_spacing.x = 5.0;
    let timeline = device.timeline();
    let (name, events, has_oom) =
        (timeline.device.to_string(), timeline.events.len(), !timeline.ooms.is_empty());
    ui.label(theme::muted(ui, format!("{title} · {name} · {} ·", units::counted(events, "event"))));
    let (_, peak) = device.figures.peak;
    ui.label(theme::muted(ui, "peak active"));
    if ui.link(units::bytes(peak)).on_hover_text(hint(peak, "Go to the peak (P)")).clicked() {
        device.go_to_peak();
    }
    if has_oom {
        ui.label(theme::muted(ui, "·"));
    }
    if has_oom && ui.link("go to OOM").on_hover_text("Go to the next out-of-memory event (O)").clicked() {
        device.go_to_oom();
    }
    let (reserved_at, reserved) = device.figures.reserved_peak;
    ui.label(theme::muted(ui, "· peak reserved"));
    let meaning = "Most bytes reserved from the driver. Go there";
    if ui.link(units::bytes(reserved)).on_hover_text(hint(reserved, meaning)).clicked() {
        device.go_to(reserved_at);
    }
    if let Some(capacity) = device.capacity() {
        figure(ui, "· capacity", capacity, device.capacity_meaning());
    }
    if let Some(baseline) = device.figures.baseline {
        figure(ui, "· active before recording", baseline, "Active before the first recorded event");
    } else {
        ui.label(theme::muted(ui, "· active before recording unknown"));
    }
    let settings = &device.figures.settings;
    if settings.is_empty() {
        let is_recorded = !device.snapshot().settings.is_empty();
        let text = if is_recorded { "· default settings" } else { "· settings not recorded" };
        ui.label(theme::muted(ui, text));
    } else {
        ui.label(theme::muted(ui, "· settings"));
        let text = settings.join("  ");
        ui.add(egui::Label::new(egui::RichText::new(&text).monospace()).truncate())
            .on_hover_text(settings.join("\n"));
    }
}

fn figure(ui: &mut egui::Ui, name: &str, bytes: i64, meaning: &str) {
    ui.label(theme::muted(ui, name));
    ui.label(units::bytes(bytes)).on_hover_text(hint(bytes, meaning));
}

fn hint(bytes: i64, meaning: &str) -> String {
    format!("{meaning}\n{}", units::bytes_exact(bytes))
}
