//! The top of an open file: the verdict, and the figures of the device.

use crate::app::device::diagnosing::Verdict;
use crate::app::device::{Derived, Selection, Standpoint};
use crate::app::theme;
use crate::diagnosis::Severity;
use crate::model::Recording;
use crate::report::Answer;
use crate::units;
use eframe::egui::{self, Sense};

/// Width of the coloured left edge, in points.
const EDGE_PX: f32 = 4.0;

/// The top of an open file; true when the user wants to see the report.
pub(super) fn ui(
    ui: &mut egui::Ui,
    recording: &Recording,
    derived: &Derived,
    at: &mut Standpoint,
    title: &str,
) -> bool {
    let palette = theme::palette(ui);
    let mut wants_report = false;
    let has_oom = !recording.ooms.is_empty();
    let verdict = derived.verdict();
    let is_critical = verdict.map_or(has_oom, |verdict| verdict.severity == Severity::Critical);
    let edge = theme::color(if is_critical { palette.oom } else { palette.accent });
    let title_text = verdict.map_or(derived.figures.headline.clone(), |verdict| verdict.title.clone());
    let frame = egui::Frame::NONE.inner_margin(egui::Margin { left: 16, right: 12, top: 8, bottom: 8 });
    let area = frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal_wrapped(|ui| {
            let label = egui::Label::new(theme::strong(title_text, 15.0)).wrap().sense(Sense::click());
            let clicked = ui.add(label).on_hover_text("Show the report");
            wants_report = clicked.on_hover_cursor(egui::CursorIcon::PointingHand).clicked();
            if let Some(verdict) = verdict
                && let Some(answer) = &verdict.answer
            {
                wants_report |= answer_ui(ui, verdict, answer, at);
            }
        });
        ui.horizontal_wrapped(|ui| figures_ui(ui, recording, derived, at, title));
    });
    let mut bar = area.response.rect;
    bar.set_width(EDGE_PX);
    ui.painter().rect_filled(bar, 0.0, edge);
    wants_report
}

/// The line of code that the verdict is about, and what to change; true when the user wants to see the report.
fn answer_ui(ui: &mut egui::Ui, verdict: &Verdict, answer: &Answer, at: &mut Standpoint) -> bool {
    let mut wants_report = false;
    if let Some(culprit) = &answer.culprit
        && link_ui(ui, culprit)
    {
        match verdict.stack {
            Some(stack) => at.show_at(verdict.moment, Selection::Stack(stack)),
            None => wants_report = true,
        }
    }
    if let (Some(fix), Some(advice)) = (&answer.fix, &answer.advice) {
        ui.label(theme::muted(ui, "· fix:"));
        ui.label(fix).on_hover_text(advice);
    }
    if copy_ui(ui) {
        let parts = [Some(&verdict.title), answer.culprit.as_ref(), answer.advice.as_ref()];
        ui.copy_text(parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("\n"));
    }
    wants_report
}

/// A button with a short text that tells assistive technology more; true when it is clicked.
fn copy_ui(ui: &mut egui::Ui) -> bool {
    let button = ui.small_button("Copy");
    let enabled = ui.is_enabled();
    button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, enabled, "Copy verdict"));
    button.on_hover_text("Copy the verdict, the line and the advice").clicked()
}

/// The line, behind a dot; true when it is clicked.
fn link_ui(ui: &mut egui::Ui, culprit: &str) -> bool {
    ui.label(theme::muted(ui, "·"));
    ui.link(culprit).on_hover_text("Show the memory of this line").clicked()
}

fn figures_ui(ui: &mut egui::Ui, recording: &Recording, derived: &Derived, at: &mut Standpoint, title: &str) {
    ui.spacing_mut().item_spacing.x = 5.0;
    let has_oom = !recording.ooms.is_empty();
    let events = units::counted(recording.events.len(), "event");
    ui.label(theme::muted(ui, format!("{title} · {} · {events} ·", recording.device)));
    let (_, peak) = derived.figures.peak;
    ui.label(theme::muted(ui, "peak active"));
    if ui.link(units::bytes(peak)).on_hover_text(hint(peak, "Go to the peak (P)")).clicked() {
        at.go_to_peak();
    }
    if has_oom {
        ui.label(theme::muted(ui, "·"));
    }
    if has_oom && ui.link("go to OOM").on_hover_text("Go to the next out-of-memory event (O)").clicked() {
        at.go_to_oom();
    }
    let (reserved_at, reserved) = derived.figures.reserved_peak;
    ui.label(theme::muted(ui, "· peak reserved"));
    let meaning = "Most bytes reserved from the driver. Go there";
    if ui.link(units::bytes(reserved)).on_hover_text(hint(reserved, meaning)).clicked() {
        at.go_to(reserved_at);
    }
    if let Some(capacity) = derived.capacity() {
        figure(ui, "· capacity", capacity, derived.capacity_meaning());
    }
    if let Some(baseline) = derived.figures.baseline {
        figure(ui, "· active before recording", baseline, "Active before the first recorded event");
    } else {
        ui.label(theme::muted(ui, "· active before recording unknown"));
    }
    let settings = &derived.figures.settings;
    if settings.is_empty() {
        let is_recorded = !recording.snapshot().settings.is_empty();
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
