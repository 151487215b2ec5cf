//! The report of a device: the moment that it is about, and its findings.

use super::card::{self, Target};
use super::quoting::{QuotingRequest, QuotingTask};
use crate::analysis::At;
use crate::app::device::diagnosing::DeviceReport;
use crate::app::device::{PaneCtx, Selection, Standpoint};
use crate::app::theme;
use crate::app::work::background::Background;
use crate::model::{Moment, Recording, Timeline};
use crate::remedies::Predictions;
use crate::report::{Document, ReportInput, quoted, report_markdown};
use crate::units;
use eframe::egui;
use std::sync::Arc;

/// Lines, stacks and allocations that each finding of a copied report lists: as many as those of
/// `oomscope report`.
const LISTED: usize = 8;

/// The pane's own state, kept between frames.
#[derive(Default)]
pub(in crate::app) struct State {
    remedies: Background<QuotingTask>,
}

impl State {
    /// What was simulated, once it is there.
    fn remedies(&mut self, ui: &egui::Ui, ctx: &PaneCtx<'_>) -> Option<Arc<Predictions>> {
        let attribution = Arc::clone(ctx.derived.attribution()?);
        let request = QuotingRequest { capacity_bytes: ctx.derived.diagnosis_request(None).device_memory };
        let task = || QuotingTask { recording: ctx.recording.clone(), attribution };
        let mode = ctx.derived.work_mode;
        self.remedies.ask(&request, ui.ctx(), mode, "remedies of the report", task).cloned().flatten()
    }
}

pub(in crate::app) fn ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, state: &mut State) {
    let remedies = state.remedies(ui, ctx);
    let predictions = remedies.as_deref();
    let answer = ctx.derived.report();
    bar_ui(ui, ctx, answer.and_then(|answer| answer.as_ref().ok()).map(AsRef::as_ref), predictions);
    match answer {
        None => {
            ui.label(theme::muted(ui, "Looking for causes…"));
        }
        Some(Err(error)) => {
            ui.label(error);
        }
        Some(Ok(report)) => findings_ui(ui, ctx.recording, ctx.at, report, predictions),
    }
}

/// Buttons for the moment and for copying, and the number of findings.
fn bar_ui(
    ui: &mut egui::Ui,
    ctx: &mut PaneCtx<'_>,
    report: Option<&DeviceReport>,
    remedies: Option<&Predictions>,
) {
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
            ui.copy_text(markdown(ctx.recording, ctx.title, report, remedies));
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

fn markdown(
    recording: &Recording,
    name: &str,
    report: &DeviceReport,
    remedies: Option<&Predictions>,
) -> String {
    report_markdown(&Document::new(&ReportInput {
        name,
        snapshot: recording.snapshot(),
        timeline: recording,
        diagnosis: &report.diagnosis,
        remedies,
        modules: None,
        top: LISTED,
        redacted: false,
    }))
}

fn findings_ui(
    ui: &mut egui::Ui,
    timeline: &Timeline,
    at: &mut Standpoint,
    report: &DeviceReport,
    remedies: Option<&Predictions>,
) {
    let findings = &report.diagnosis.findings;
    debug_assert_eq!(findings.len(), report.site_stacks.len());
    let mut target = None;
    egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for (number, (finding, stacks)) in findings.iter().zip(&report.site_stacks).enumerate() {
            // The verdict is the first.
            let remedies = remedies.filter(|_| number == 0);
            let remedies = remedies.map(|all| quoted(all, finding.id)).unwrap_or_default();
            let size_of = |id| timeline.size(id);
            let clicked = ui.push_id(number, |ui| card::ui(ui, finding, &remedies, stacks, size_of));
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
