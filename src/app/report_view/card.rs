//! One finding: the problem, the figures it rests on, and the advice.

use crate::app::theme;
use crate::diagnosis::{Finding, Number, Severity, Site, Value};
use crate::draw::Rgb;
use crate::model::{AllocId, EventIx, StackId};
use crate::report::{RemedyText, kind_text};
use crate::units;
use eframe::egui::{self, RichText};

/// Rows of each kind that a card lists, so that several cards fit on a screen.
const MAX_ROWS: usize = 8;

/// Width of the coloured left edge, in points.
const EDGE_PX: f32 = 3.0;

/// Width, in points, from which figures stand beside the words: half of it is a readable column.
const MIN_TWO_COLUMNS_PX: f32 = 760.0;

/// Largest width of a column, in points: longer lines are hard to read.
const MAX_TEXT_PX: f32 = 720.0;

/// Width of the column of figures, in points: room for `event 2,528`.
const FIGURE_PX: f32 = 76.0;

/// The place that a click leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Target {
    /// The moment that the report is about, and the largest allocation of the finding.
    Evidence,
    Event(EventIx),
    Stack(StackId),
    Allocation(AllocId),
}

/// A card, with the remedies that a report quotes if it is the verdict's. `site_stacks` has the stack that each of its lines
/// of code selects, and `size_of` gives the size of an allocation.
pub(in crate::app) fn ui(
    ui: &mut egui::Ui,
    finding: &Finding,
    remedies: &[RemedyText],
    site_stacks: &[Option<StackId>],
    size_of: impl Fn(AllocId) -> i64,
) -> Option<Target> {
    let mut target = None;
    let frame = egui::Frame::NONE.inner_margin(egui::Margin { left: 14, right: 8, top: 4, bottom: 10 });
    let area = frame.show(ui, |ui| {
        if ui.available_width() < MIN_TWO_COLUMNS_PX {
            words_ui(ui, finding, remedies, false);
            figures_ui(ui, finding, site_stacks, &size_of, &mut target);
            advice_ui(ui, finding);
            notes_ui(ui, finding);
            return;
        }
        ui.set_width(ui.available_width().min(2.0 * MAX_TEXT_PX));
        // Columns would stretch the words to both edges.
        let layout = egui::Layout::top_down(egui::Align::Min);
        ui.columns_const(|[left, right]| {
            left.with_layout(layout, |ui| words_ui(ui, finding, remedies, true));
            right.with_layout(layout, |ui| figures_ui(ui, finding, site_stacks, &size_of, &mut target));
        });
    });
    let mut edge = area.response.rect;
    edge.set_width(EDGE_PX);
    ui.painter().rect_filled(edge, 1.0, theme::color(edge_color(ui, finding.severity)));
    target
}

/// The problem in words; with `is_whole`, the advice and the notes, too.
fn words_ui(ui: &mut egui::Ui, finding: &Finding, remedies: &[RemedyText], is_whole: bool) {
    title_ui(ui, finding);
    if let Some(why) = &finding.why {
        text_ui(ui, why.text());
    }
    remedies_ui(ui, remedies);
    for sentence in &finding.explanation {
        text_ui(ui, sentence.text());
    }
    if is_whole {
        advice_ui(ui, finding);
        notes_ui(ui, finding);
    }
}

/// The evidence.
fn figures_ui(
    ui: &mut egui::Ui,
    finding: &Finding,
    site_stacks: &[Option<StackId>],
    size_of: impl Fn(AllocId) -> i64,
    target: &mut Option<Target>,
) {
    numbers_ui(ui, finding, target);
    sites_ui(ui, finding, site_stacks, target);
    allocations_ui(ui, finding, size_of, target);
    events_ui(ui, finding, target);
}

/// The remedies that a report quotes.
fn remedies_ui(ui: &mut egui::Ui, remedies: &[RemedyText]) {
    if remedies.is_empty() {
        return;
    }
    part_ui(ui, "Simulated with the recorded requests");
    for remedy in remedies {
        text_ui(ui, &remedy.text);
        ui.add(egui::Label::new(RichText::new(&remedy.code).monospace().size(12.0)).wrap());
    }
    ui.add_space(6.0);
}

/// The colour of a severity. Red is kept for memory that ran out.
fn edge_color(ui: &egui::Ui, severity: Severity) -> Rgb {
    let palette = theme::palette(ui);
    match severity {
        Severity::Critical => palette.oom,
        Severity::Warning => palette.text,
        Severity::Info => palette.line,
    }
}

fn title_ui(ui: &mut egui::Ui, finding: &Finding) {
    ui.horizontal_wrapped(|ui| {
        ui.add(egui::Label::new(theme::strong(finding.title.text(), 14.0)).wrap());
    });
    ui.label(theme::muted(ui, kind_text(finding.severity, finding.id)).size(11.0));
    ui.add_space(2.0);
}

fn text_ui(ui: &mut egui::Ui, text: &str) {
    ui.add(egui::Label::new(text).wrap());
}

/// A heading within a card.
fn part_ui(ui: &mut egui::Ui, name: &str) {
    ui.add_space(6.0);
    ui.label(theme::muted(ui, name).size(12.0));
}

/// A figure that leads somewhere, at the right of its column.
fn figure_ui(ui: &mut egui::Ui, text: &str, hint: &str) -> bool {
    // As high as a line of text: with the height of a button, rows would lie too far apart.
    let size = egui::vec2(FIGURE_PX, ui.spacing().interact_size.y.min(18.0));
    let layout = egui::Layout::right_to_left(egui::Align::Center);
    let link = ui.allocate_ui_with_layout(size, layout, |ui| {
        ui.set_width(FIGURE_PX);
        ui.link(text)
    });
    link.inner.on_hover_text(hint).clicked()
}

fn numbers_ui(ui: &mut egui::Ui, finding: &Finding, target: &mut Option<Target>) {
    if finding.evidence.numbers.is_empty() {
        return;
    }
    ui.add_space(4.0);
    for Number { label, figure, .. } in &finding.evidence.numbers {
        ui.horizontal(|ui| {
            let (hint, wanted) = match figure.value() {
                Value::Event(event) => ("Go to the event".to_owned(), Target::Event(event)),
                Value::Bytes(bytes) => {
                    (format!("{}\nGo to the moment", units::bytes_exact(bytes)), Target::Evidence)
                }
                Value::Count(_) | Value::Share(_) | Value::Times(_) => {
                    ("Go to the moment".to_owned(), Target::Evidence)
                }
            };
            if figure_ui(ui, &figure.text(), &hint) {
                *target = Some(wanted);
            }
            ui.label(*label);
        });
    }
}

fn sites_ui(
    ui: &mut egui::Ui,
    finding: &Finding,
    site_stacks: &[Option<StackId>],
    target: &mut Option<Target>,
) {
    if finding.evidence.sites.is_empty() {
        return;
    }
    part_ui(ui, "Code");
    for (at, site) in finding.evidence.sites.iter().take(MAX_ROWS).enumerate() {
        ui.horizontal(|ui| {
            let stack = site_stacks.get(at).copied().flatten();
            let wanted = stack.map_or(Target::Evidence, Target::Stack);
            if figure_ui(ui, &units::bytes(site.bytes), &units::bytes_exact(site.bytes)) {
                *target = Some(wanted);
            }
            let hint = format!("{}:{}\nSelect what was allocated there", site.file, site.line);
            if ui.link(site_text(site)).on_hover_text(hint).clicked() {
                *target = Some(wanted);
            }
            ui.label(theme::muted(ui, site.role.text(site.count)));
        });
    }
    more_ui(ui, finding.evidence.sites.len());
}

fn site_text(site: &Site) -> String {
    format!("{}:{} {}", units::basename(&site.file), site.line, site.name)
}

fn more_ui(ui: &mut egui::Ui, all: usize) {
    if MAX_ROWS < all {
        ui.label(theme::muted(ui, format!("and {} more", units::count((all - MAX_ROWS) as u64))));
    }
}

fn allocations_ui(
    ui: &mut egui::Ui,
    finding: &Finding,
    size_of: impl Fn(AllocId) -> i64,
    target: &mut Option<Target>,
) {
    let all = &finding.evidence.allocations;
    if all.is_empty() {
        return;
    }
    part_ui(ui, "Largest allocations");
    ui.horizontal_wrapped(|ui| {
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        for &id in all.iter().take(MAX_ROWS) {
            if ui.link(units::bytes(size_of(id))).on_hover_text("Select the allocation").clicked() {
                *target = Some(Target::Allocation(id));
            }
        }
        more_ui(ui, all.len());
    });
}

/// Events that are not among the figures.
fn events_ui(ui: &mut egui::Ui, finding: &Finding, target: &mut Option<Target>) {
    let is_figure =
        |event| finding.evidence.numbers.iter().any(|number| number.figure.value() == Value::Event(event));
    let events: Vec<EventIx> = finding.evidence.events.iter().copied().filter(|&e| !is_figure(e)).collect();
    if events.is_empty() {
        return;
    }
    part_ui(ui, "Events");
    ui.horizontal_wrapped(|ui| {
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        for &event in events.iter().take(MAX_ROWS) {
            if ui.link(units::count(event.0)).on_hover_text("Go to the event").clicked() {
                *target = Some(Target::Event(event));
            }
        }
        more_ui(ui, events.len());
    });
}

fn advice_ui(ui: &mut egui::Ui, finding: &Finding) {
    if finding.advice.is_empty() {
        return;
    }
    part_ui(ui, "What to do");
    for advice in &finding.advice {
        text_ui(ui, advice.text.text());
        let Some(code) = &advice.code else { continue };
        ui.horizontal(|ui| {
            if ui.small_button("Copy").on_hover_text("Copy this").clicked() {
                ui.copy_text(code.clone());
            }
            ui.add(egui::Label::new(RichText::new(code).monospace().size(12.0)).wrap());
        });
    }
}

fn notes_ui(ui: &mut egui::Ui, finding: &Finding) {
    let saving = finding.saving.as_ref();
    let saving =
        saving.map(|saving| format!("Could save up to {}: {}", units::bytes(saving.bytes), saving.formula));
    let confirm = finding.confirm.as_ref().map(|text| format!("To confirm: {text}"));
    let limits = finding.limits.iter().map(|text| format!("Not known: {text}"));
    let notes: Vec<String> = saving.into_iter().chain(confirm).chain(limits).collect();
    if notes.is_empty() {
        return;
    }
    ui.add_space(6.0);
    for note in notes {
        ui.add(egui::Label::new(theme::muted(ui, note)).wrap());
    }
}
