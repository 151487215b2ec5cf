//! The report of a device: the moment that it is about, and its findings.

use super::card::Card;
use super::target::Target;
use crate::device::diagnosing::DeviceReport;
use crate::device::{Pane, PaneCtx, PaneId, Selection, Standpoint, Wish};
use crate::theme;
use eframe::egui;
use oomscope_analysis::At;
use oomscope_diagnosis::{Finding, Severity};
use oomscope_model::{Moment, Recording, StackId};
use oomscope_remedies::Predictions;
use oomscope_report::notes::Note;
use oomscope_report::{Document, Fix, ReportInput, report_markdown};
use oomscope_units as units;
use std::sync::Arc;
use tr::tr;

/// Lines, stacks and allocations that each finding of a copied report lists: as many as those of
/// `oomscope report`.
const LISTED: usize = 8;

/// Room for the scroll bar, in points.
const SCROLL_BAR_PX: f32 = 10.0;

/// Largest width of the text, in points: longer lines are hard to read.
const MAX_TEXT_PX: f32 = 720.0;

/// The pane has nothing to remember.
#[derive(Default)]
pub(crate) struct State;

impl Pane for State {
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) {
        let answer = ctx.derived.report();
        bar_ui(ui, ctx, answer.and_then(|answer| answer.as_ref().ok()).map(AsRef::as_ref));
        match answer {
            None => {
                ui.label(theme::muted(ui, tr!("Looking for causes…")));
            }
            Some(Err(error)) => {
                ui.add(egui::Label::new(error).wrap());
            }
            Some(Ok(report)) => {
                if let Some(pane) = findings_ui(ui, ctx, report) {
                    *ctx.wish = Some(Wish::Show(pane));
                }
            }
        }
    }
}

/// Buttons for the moment and for copying.
fn bar_ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, report: Option<&DeviceReport>) {
    ui.horizontal_wrapped(|ui| {
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.spacing_mut().button_padding.x = 8.0;
        let at_end = if ctx.recording.ooms.is_empty() { tr!("At the peak") } else { tr!("At the OOM") };
        if ui.selectable_label(ctx.at.report_at.is_none(), theme::small(at_end)).clicked() {
            ctx.at.report_at = None;
            // The question is asked before panes are drawn, so in the next frame.
            ui.ctx().request_repaint();
        }
        let event = ctx.at.cursor.event().map(|event| At::Event(event.0));
        let hint = tr!("Ask what fills the memory where the cursor is");
        let is_at_cursor = event.is_some() && ctx.at.report_at == event;
        if ui
            .add_enabled(
                event.is_some(),
                egui::Button::selectable(is_at_cursor, theme::small(tr!("At the cursor"))),
            )
            .on_hover_text(hint)
            .clicked()
        {
            ctx.at.report_at = event;
            ui.ctx().request_repaint();
        }
        let Some(report) = report else { return };
        if copy_ui(ui) {
            ui.copy_text(markdown(
                ctx.recording,
                ctx.title,
                report,
                ctx.derived.predictions().map(AsRef::as_ref),
                &ctx.notebook.notes(),
            ));
            ctx.notify(tr!("Report copied"));
        }
    });
    ui.add_space(4.0);
}

/// A button with a short text that tells assistive technology more; true when it is clicked.
fn copy_ui(ui: &mut egui::Ui) -> bool {
    let (button, is_enabled) = (ui.button(theme::small(tr!("Copy"))), ui.is_enabled());
    button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, is_enabled, tr!("Copy as Markdown")));
    button.on_hover_text(tr!("Copy the report as Markdown, for an issue")).clicked()
}

fn markdown(
    recording: &Recording,
    name: &str,
    report: &DeviceReport,
    remedies: Option<&Predictions>,
    notes: &[Note],
) -> String {
    report_markdown(&Document::new(&ReportInput {
        name,
        recording,
        diagnosis: &report.diagnosis,
        remedies,
        modules: None,
        top: LISTED,
        notes,
        redacted: false,
    }))
}

/// The verdict on the whole recording in short, unless the report is about another moment; returns the pane that a click leads to.
pub(crate) fn verdict_ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>) -> Option<PaneId> {
    if ctx.at.report_at.is_some() {
        return None;
    }
    let report = match ctx.derived.report() {
        None => {
            ui.label(theme::muted(ui, tr!("Looking for causes…")));
            return None;
        }
        Some(Err(error)) => {
            ui.add(egui::Label::new(error).wrap());
            return None;
        }
        Some(Ok(report)) => Arc::clone(report),
    };
    let (finding, stacks) = report.diagnosis.findings.iter().zip(&report.site_stacks).next()?;
    let fix = fix_of(ctx, &report);
    let target = card(ctx, finding, stacks).short_ui(ui, fix.as_deref())?;
    follow(ctx.at, target, finding, report.diagnosis.at.moment)
}

fn card<'a>(ctx: &'a PaneCtx<'_>, finding: &'a Finding, site_stacks: &'a [Option<StackId>]) -> Card<'a> {
    let predictions = ctx.derived.predictions().map(AsRef::as_ref);
    Card { finding, site_stacks, timeline: ctx.recording, outlined: ctx.at.outlined(), predictions }
}

/// What to change. Where nothing is wrong, no change is an answer to the verdict.
fn fix_of(ctx: &PaneCtx<'_>, report: &DeviceReport) -> Option<Arc<Fix>> {
    let wrong = report.diagnosis.verdict().filter(|verdict| verdict.severity != Severity::Info)?;
    ctx.derived.fix(wrong.id, wrong.advice.first())
}

/// The verdict as a card, and below it the other findings, folded.
fn findings_ui(ui: &mut egui::Ui, ctx: &mut PaneCtx<'_>, report: &DeviceReport) -> Option<PaneId> {
    let findings = &report.diagnosis.findings;
    debug_assert_eq!(findings.len(), report.site_stacks.len());
    let fix = fix_of(ctx, report);
    let is_in_header = ctx.at.report_at.is_none();
    let mut target = None;
    egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        ui.set_max_width((ui.available_width() - SCROLL_BAR_PX).min(MAX_TEXT_PX));
        let others = findings.len().saturating_sub(1);
        for (number, (finding, stacks)) in findings.iter().zip(&report.site_stacks).enumerate() {
            let card = card(ctx, finding, stacks);
            if number == 1 {
                ui.add_space(2.0);
                ui.label(theme::muted(ui, others_text(others, report.diagnosis.at.moment)));
            }
            let clicked = ui.push_id(number, |ui| match number {
                0 => card.verdict_ui(ui, fix.as_deref(), is_in_header),
                _ => card.folded_ui(ui),
            });
            target = clicked.inner.map(|clicked| (clicked, finding)).or(target);
        }
    });
    let (target, finding) = target?;
    follow(ctx.at, target, finding, report.diagnosis.at.moment)
}

fn others_text(others: usize, moment: Moment) -> String {
    let count = units::count(others as u64);
    if let Some(event) = moment.event() {
        let event = units::count(event.0);
        tr!(
            "{count} other finding after event {event}"
                | "{count} other findings after event {event}" % others,
            count,
            event
        )
    } else {
        tr!(
            "{count} other finding before the first event"
                | "{count} other findings before the first event" % others,
            count
        )
    }
}

/// Go where a click leads; returns the pane to bring to the front, if it is another.
fn follow(at: &mut Standpoint, target: Target, finding: &Finding, moment: Moment) -> Option<PaneId> {
    match target {
        Target::Event(event) => at.go_to(Moment::after(event)),
        Target::Stack(stack) => at.show_at(moment, Selection::Stack(stack)),
        Target::Allocation(id) => at.show_at(moment, Selection::Allocation(id)),
        Target::Moment => at.go_to(moment),
        Target::Outline => at.toggle_outline(finding, moment),
        Target::Pane(pane) => return Some(pane),
    }
    None
}
