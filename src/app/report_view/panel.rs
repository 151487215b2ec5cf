//! The report of a device: the moment that it is about, and its findings.

use super::card::{self, Target};
use crate::analysis::At;
use crate::app::device::diagnosing::DeviceReport;
use crate::app::device::{PaneCtx, Selection, Standpoint};
use crate::app::theme;
use crate::model::{Moment, Recording, Timeline};
use crate::report::{Document, ReportInput, report_markdown};
use crate::units;
use eframe::egui;

/// Lines, stacks and allocations that each finding of a copied report lists: as many as those of
/// `oomscope report`.
const LISTED: usize = 8;

pub(in crate::app) fn ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
    let answer = ctx.derived.report();
    bar_ui(ui, ctx, answer.and_then(|answer| answer.as_ref().ok()).map(AsRef::as_ref));
    match answer {
        None => {
            ui.label(theme::muted(ui, "Looking for causes…"));
        }
        Some(Err(error)) => {
            ui.label(error);
        }
        Some(Ok(report)) => findings_ui(ui, ctx.recording, ctx.at, report),
    }
}

/// Buttons for the moment and for copying, and the number of findings.
fn bar_ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, report: Option<&DeviceReport>) {
    ui.horizontal_wrapped(|ui| {
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        let at_end = if ctx.recording.ooms.is_empty() { "At the peak" } else { "At the OOM" };
        if ui.selectable_label(ctx.at.report_at.is_none(), at_end).clicked() {
            ctx.at.report_at = None;
            // The question is asked before panes are drawn, so in the next frame.
            ui.ctx().request_repaint();
        }
        let event = ctx.at.cursor.event().map(|event| At::Event(event.0));
        let hint = "Ask what fills the memory where the cursor is";
        let is_at_cursor = event.is_some() && ctx.at.report_at == event;
        if ui
            .add_enabled(event.is_some(), egui::Button::selectable(is_at_cursor, "At the cursor"))
            .on_hover_text(hint)
            .clicked()
        {
            ctx.at.report_at = event;
            ui.ctx().request_repaint();
        }
        let Some(report) = report else { return };
        if ui.button("Copy as Markdown").on_hover_text("Copy the report for an issue").clicked() {
            ui.copy_text(markdown(ctx.recording, ctx.title, report));
            ctx.notify("Report copied".to_owned());
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

fn markdown(recording: &Recording, name: &str, report: &DeviceReport) -> String {
    report_markdown(&Document::new(&ReportInput {
        name,
        snapshot: recording.snapshot(),
        timeline: recording,
        diagnosis: &report.diagnosis,
        remedies: None,
        modules: None,
        top: LISTED,
        redacted: false,
    }))
}

fn findings_ui(ui: &mut egui::Ui, timeline: &Timeline, at: &mut Standpoint, report: &DeviceReport) {
    let findings = &report.diagnosis.findings;
    debug_assert_eq!(findings.len(), report.site_stacks.len());
    let mut target = None;
    egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for (number, (finding, stacks)) in findings.iter().zip(&report.site_stacks).enumerate() {
            let clicked = ui.push_id(number, |ui| card::ui(ui, finding, stacks, |id| timeline.size(id)));
            if let Some(clicked) = clicked.inner {
                target = Some((clicked, finding.evidence.allocations.first().copied()));
            }
            ui.add_space(6.0);
        }
    });
    let moment = report.diagnosis.at.moment;
    match target {
        None => {}
        Some((Target::Event(event), _)) => at.go_to(Moment::after(event)),
        Some((Target::Stack(stack), _)) => at.show_at(moment, Selection::Stack(stack)),
        Some((Target::Evidence, None)) => at.go_to(moment),
        Some((Target::Allocation(id), _) | (Target::Evidence, Some(id))) => {
            at.show_at(moment, Selection::Allocation(id));
        }
    }
}
