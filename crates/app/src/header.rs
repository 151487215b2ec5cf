//! The top of an open file: the verdict, and below it the line of code and the change, or what the peak consists of.

use crate::accessible;
use crate::device::PaneId;
use crate::device::diagnosing::Verdict;
use crate::device::{Derived, Selection, Standpoint};
use crate::right_side::RightSide;
use crate::theme;
use eframe::egui::{self, Label, Sense};
use oomscope_diagnosis::Severity;
use oomscope_model::Recording;
use oomscope_report::{Fix, RemedyText, predicted_title};
use tr::tr;

/// Width of the coloured left edge, in points.
const EDGE_PX: f32 = 4.0;

/// The top of an open file; returns the pane that the user wants to see. If `is_short`, it is the verdict alone.
pub(super) fn ui(
    ui: &mut egui::Ui,
    recording: &Recording,
    derived: &Derived,
    at: &mut Standpoint,
    is_short: bool,
) -> Option<PaneId> {
    let palette = theme::palette(ui);
    let mut wanted = None;
    let verdict = derived.verdict();
    let has_oom = !recording.ooms.is_empty();
    let is_critical = verdict.map_or(has_oom, |verdict| verdict.severity == Severity::Critical);
    let edge = theme::color(if is_critical { palette.oom } else { palette.accent });
    let title = verdict.map_or(derived.figures.headline.as_str(), |verdict| verdict.title.as_str());
    let title = predicted_title(recording.snapshot(), title);
    let frame = egui::Frame::NONE.inner_margin(egui::Margin { left: 16, right: 12, top: 4, bottom: 5 });
    let area = frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 2.0;
        let label = Label::new(theme::strong(&title, 15.0)).truncate().sense(Sense::click());
        let label = ui.add(label).on_hover_text(tr!("Show the report"));
        accessible::pressable_text(&label, &title);
        if label.on_hover_cursor(egui::CursorIcon::PointingHand).clicked() {
            wanted = Some(PaneId::Report);
        }
        if !is_short {
            // One line, whatever is known: nothing below it moves when a figure comes in.
            wanted = answer_ui(ui, derived, verdict, at).or(wanted);
        }
    });
    let mut bar = area.response.rect;
    bar.set_width(EDGE_PX);
    ui.painter().rect_filled(bar, 0.0, edge);
    wanted
}

/// The line of code that the verdict is about, what to change, and what that would give; returns the pane that the user wants to see.
fn answer_ui(
    ui: &mut egui::Ui,
    derived: &Derived,
    verdict: Option<&Verdict>,
    at: &mut Standpoint,
) -> Option<PaneId> {
    ui.spacing_mut().item_spacing.x = 6.0;
    let right = RightSide::of(ui, "header", ui.spacing().interact_size.y);
    let Some(verdict) = verdict else {
        right.left_ui(ui, |ui| ui.label(theme::muted(ui, tr!("Looking for causes…"))));
        return None;
    };
    let remedies = derived.quoted(verdict.id);
    let fix = verdict.answer.as_ref().and_then(|_| derived.fix(verdict.id, verdict.advice.as_ref()));
    let own = fix.as_ref().and_then(|fix| fix.simulated.as_ref());
    let mut wanted = right.left_ui(ui, |ui| change_ui(ui, verdict, fix.as_deref(), remedies.first(), at));
    // What must be in sight; the words of the change take the rest.
    right.ui(ui, |ui| {
        let outcome = match (own, verdict.answer.is_some()) {
            (Some(own), _) => Some(tr!("simulated: {}", own.outcome)),
            (None, true) => None,
            (None, false) => remedies.first().map(|remedy| remedy.outcome.clone()),
        };
        if let Some(outcome) = outcome {
            ui.label(outcome);
        }
        if own.or(remedies.first()).is_some() {
            wanted = fixes_ui(ui).or(wanted);
        }
        if verdict.answer.is_some() && copy_ui(ui) {
            ui.copy_text(copied(verdict, fix.as_deref()));
        }
    });
    wanted
}

/// The line of code, and what to change; returns the pane that the user wants to see.
fn change_ui(
    ui: &mut egui::Ui,
    verdict: &Verdict,
    fix: Option<&Fix>,
    best: Option<&RemedyText>,
    at: &mut Standpoint,
) -> Option<PaneId> {
    let mut wanted = None;
    let culprit = verdict.answer.as_ref().and_then(|answer| answer.culprit.as_deref());
    if let Some(culprit) = culprit
        && ui.link(culprit).on_hover_text(tr!("Show the memory of this line")).clicked()
    {
        match verdict.stack {
            Some(stack) => at.show_at(verdict.moment, Selection::Stack(stack)),
            None => wanted = Some(PaneId::Report),
        }
    }
    let shown = match (fix, verdict.answer.is_some()) {
        (Some(fix), _) => Some((tr!("fix:"), &fix.short, fix.code.as_ref().unwrap_or(&fix.text))),
        (None, true) => None,
        (None, false) => best.map(|remedy| (tr!("would lower the peak:"), &remedy.title, &remedy.code)),
    };
    if let Some((name, text, hint)) = shown {
        let name = if culprit.is_none() { name } else { format!("· {name}") };
        ui.label(theme::muted(ui, name));
        ui.add(Label::new(text).truncate()).on_hover_text(format!("{text}\n{hint}"));
    }
    wanted
}

/// The verdict for a ticket.
fn copied(verdict: &Verdict, fix: Option<&Fix>) -> String {
    let mut lines = vec![verdict.title.clone()];
    lines.extend(verdict.answer.as_ref().and_then(|answer| answer.culprit.clone()));
    if let Some(fix) = fix {
        lines.push(fix.text.clone());
        lines.extend(fix.code.clone());
        let own = fix.simulated.as_ref().filter(|_| fix.is_advice);
        lines.extend(own.map(|remedy| tr!("Simulated: {}", remedy.text)));
    }
    lines.join("\n")
}

/// The way to all that was simulated.
fn fixes_ui(ui: &mut egui::Ui) -> Option<PaneId> {
    let link = ui.link(tr!("show all fixes")).on_hover_text(tr!("What was simulated"));
    link.clicked().then_some(PaneId::Fixes)
}

/// A button with a short text that tells assistive technology more; true when it is clicked.
fn copy_ui(ui: &mut egui::Ui) -> bool {
    let button = ui.small_button(tr!("Copy"));
    let enabled = ui.is_enabled();
    button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, enabled, tr!("Copy verdict")));
    button.on_hover_text(tr!("Copy the verdict, the line and the advice")).clicked()
}
