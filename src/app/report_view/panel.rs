//! The report of a device: which moment it is about, and its findings.

use super::card::{self, Target};
use super::work::Report;
use crate::analysis::At;
use crate::app::device::DeviceState;
use crate::app::navigation::Selection;
use crate::app::theme;
use crate::model::{Moment, Timeline};
use crate::report::{Document, ReportInput, report_markdown};
use crate::units;
use eframe::egui;

/// Lines, stacks and allocations that each finding of a copied report lists.
const LISTED: usize = 8;

pub(in crate::app) fn ui(ui: &mut egui::Ui, device: &mut DeviceState) {
    let answer = device.report(ui.ctx());
    bar_ui(ui, device, answer.as_ref().and_then(|answer| answer.as_ref().ok()).map(AsRef::as_ref));
    match answer {
        None => {
            ui.label(theme::muted(ui, "Looking for causes…"));
        }
        Some(Err(error)) => {
            ui.label(error);
        }
        Some(Ok(report)) => findings_ui(ui, device, &report),
    }
}

/// The moment, and what can be done with the report.
fn bar_ui(ui: &mut egui::Ui, device: &mut DeviceState, report: Option<&Report>) {
    ui.horizontal_wrapped(|ui| {
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        let at_end = if device.timeline().ooms.is_empty() { "At the peak" } else { "At the OOM" };
        if ui.selectable_label(device.diagnosing.at.is_none(), at_end).clicked() {
            device.diagnosing.at = None;
        }
        let event = device.cursor.event().map(|event| At::Event(event.0));
        let hint = "Ask what fills the memory where the cursor is";
        let is_at_cursor = event.is_some() && device.diagnosing.at == event;
        if ui
            .add_enabled(event.is_some(), egui::Button::selectable(is_at_cursor, "At the cursor"))
            .on_hover_text(hint)
            .clicked()
        {
            device.diagnosing.at = event;
        }
        let Some(report) = report else { return };
        if ui.button("Copy as Markdown").on_hover_text("Copy the report for an issue").clicked() {
            ui.copy_text(markdown(device, report));
            device.notify("Report copied".to_owned());
        }
        let (moment, findings) = (report.diagnosis.at.moment, report.diagnosis.findings.len());
        let event = moment.event().map_or_else(String::new, |event| units::count(event.0));
        let text = match moment {
            Moment::START => format!("{} before the first event", units::counted(findings, "finding")),
            _ => format!("{} after event {event}", units::counted(findings, "finding")),
        };
        ui.label(theme::muted(ui, text));
    });
    ui.add_space(4.0);
}

fn markdown(device: &DeviceState, report: &Report) -> String {
    let snapshot = device.snapshot();
    report_markdown(&Document::new(&ReportInput {
        name: &device.name,
        snapshot: &snapshot,
        timeline: device.timeline(),
        diagnosis: &report.diagnosis,
        top: LISTED,
        redacted: false,
    }))
}

fn findings_ui(ui: &mut egui::Ui, device: &mut DeviceState, report: &Report) {
    let mut target = None;
    egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for (at, finding) in report.diagnosis.findings.iter().enumerate() {
            let stacks = report.site_stacks.get(at).map_or(&[][..], Vec::as_slice);
            let Timeline { lifetimes, events, .. } = device.timeline();
            let clicked = ui.push_id(at, |ui| card::ui(ui, finding, stacks, |id| lifetimes.size(id, events)));
            if let Some(clicked) = clicked.inner {
                target = Some((clicked, finding.evidence.allocations.first().copied()));
            }
            ui.add_space(6.0);
        }
    });
    let moment = report.diagnosis.at.moment;
    match target {
        None => {}
        Some((Target::Event(event), _)) => device.go_to(Moment::after(event)),
        Some((Target::Stack(stack), _)) => device.show_at(moment, Selection::Stack(stack)),
        Some((Target::Evidence, None)) => device.go_to(moment),
        Some((Target::Allocation(id), _) | (Target::Evidence, Some(id))) => {
            device.show_at(moment, Selection::Allocation(id));
        }
    }
}
