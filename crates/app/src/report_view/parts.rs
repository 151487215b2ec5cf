//! The parts of a card: lines of code, advice, remedies, figures and notes.

use super::target::Target;
use crate::device::PaneId;
use crate::pointed::{self, Thing};
use crate::theme;
use eframe::egui::collapsing_header::{CollapsingState, paint_default_icon};
use eframe::egui::{self, Align, Layout, RichText};
use oomscope_analysis::SiteFrame;
use oomscope_diagnosis::{Advice, Finding, Number, Site, Value};
use oomscope_model::{EventIx, StackId, Timeline};
use oomscope_remedies::Predictions;
use oomscope_report::{Fix, simulated_text};
use oomscope_units as units;
use tr::tr;

/// Rows of each kind that a card lists, so that several cards fit on a screen.
pub(super) const MAX_ROWS: usize = 8;

/// Height of a line of code, in points: with the height of a button, rows would lie too far apart.
const ROW_PX: f32 = 18.0;

/// Room that the role of a line's bytes needs at least, in points.
const MIN_ROLE_PX: f32 = 70.0;

/// Width of the column of figures, in points: room for `event 2,528`.
const FIGURE_PX: f32 = 76.0;

/// Something that unfolds below its title, which takes the lines that it needs.
pub(crate) fn fold_ui(ui: &mut egui::Ui, title: egui::RichText, body: impl FnOnce(&mut egui::Ui)) {
    let id = ui.make_persistent_id("fold");
    let mut state = CollapsingState::load_with_default_open(ui.ctx(), id, false);
    let header = ui.horizontal_top(|ui| {
        // The title is for the mouse: one stop of the Tab key is enough.
        let is_open = state.is_open();
        let name = if is_open { tr!("Fold {}", title.text()) } else { tr!("Unfold {}", title.text()) };
        let icon = state.show_toggle_button(ui, paint_default_icon);
        icon.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, is_open, &name));
        let title = ui.add(egui::Label::new(title).wrap().sense(egui::Sense::CLICK));
        if title.on_hover_cursor(egui::CursorIcon::PointingHand).clicked() {
            state.toggle(ui);
        }
    });
    state.show_body_indented(&header.response, ui, body);
}

pub(super) fn text_ui(ui: &mut egui::Ui, text: &str) {
    ui.add(egui::Label::new(text).wrap());
}

/// A heading within a card.
fn part_ui(ui: &mut egui::Ui, name: &str) {
    ui.add_space(6.0);
    ui.label(theme::strong(name, 12.0));
}

/// The first two lines of code, without a heading.
pub(super) fn first_sites_ui(
    ui: &mut egui::Ui,
    finding: &Finding,
    site_stacks: &[Option<StackId>],
    target: &mut Option<Target>,
) {
    for (at, site) in finding.evidence.sites.iter().take(2).enumerate() {
        let stack = site_stacks.get(at).copied().flatten();
        if site_ui(ui, site, stack) {
            *target = Some(stack.map_or(Target::Moment, Target::Stack));
        }
    }
}

/// Lines of code, each with its bytes and what they are to it.
pub(super) fn sites_ui(
    ui: &mut egui::Ui,
    finding: &Finding,
    site_stacks: &[Option<StackId>],
    rows: usize,
    target: &mut Option<Target>,
) {
    let sites = &finding.evidence.sites;
    if sites.is_empty() {
        return;
    }
    part_ui(ui, &tr!("Lines of code"));
    for (at, site) in sites.iter().take(rows).enumerate() {
        let stack = site_stacks.get(at).copied().flatten();
        if site_ui(ui, site, stack) {
            *target = Some(stack.map_or(Target::Moment, Target::Stack));
        }
    }
    more_ui(ui, sites.len(), rows);
}

/// One line of code; true when it was clicked.
fn site_ui(ui: &mut egui::Ui, site: &Site, stack: Option<StackId>) -> bool {
    let role = site.role.text(site.count);
    let place = format!("{}:{}", site.file, site.line);
    let hint = format!(
        "{place}\n{} {role}\n{}",
        units::bytes_exact(site.bytes),
        tr!("Select what was allocated there")
    );
    let size = egui::vec2(ui.available_width(), ROW_PX);
    let row = ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        ui.label(units::bytes(site.bytes));
        let rest = Layout::left_to_right(Align::Center);
        let inner = ui.with_layout(rest, |ui| {
            ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Truncate);
            let link = ui.link(site_text(site)).on_hover_text(hint);
            pointed::on(&link, || Some(Thing::Line { frame: site_frame(site), stack }));
            // A word or two of it would say nothing.
            if MIN_ROLE_PX <= ui.available_width() {
                ui.label(theme::muted(ui, role).size(11.0));
            }
            link.clicked()
        });
        inner.inner
    });
    row.inner
}

fn site_frame(site: &Site) -> SiteFrame {
    SiteFrame { file: site.file.clone(), line: site.line, name: site.name.clone(), is_own: false }
}

fn site_text(site: &Site) -> String {
    format!("{}:{} {}", units::basename(&site.file), site.line, site.name)
}

fn more_ui(ui: &mut egui::Ui, all: usize, shown: usize) {
    if shown < all {
        ui.label(theme::muted(ui, tr!("and {} more", units::count((all - shown) as u64))).size(11.0));
    }
}

/// Advice with its code.
pub(super) fn advice_ui(ui: &mut egui::Ui, name: &str, all: &[Advice]) {
    if all.is_empty() {
        return;
    }
    part_ui(ui, name);
    for advice in all {
        text_ui(ui, advice.text.text());
        if let Some(code) = &advice.code {
            code_ui(ui, code);
        }
    }
}

/// What to change.
pub(super) fn fix_ui(ui: &mut egui::Ui, fix: &Fix) {
    part_ui(ui, &tr!("What to do"));
    text_ui(ui, &fix.text);
    if let Some(code) = &fix.code {
        code_ui(ui, code);
    }
}

/// What this very change was simulated to give, and the way to all others.
pub(super) fn simulated_ui(ui: &mut egui::Ui, fix: &Fix, target: &mut Option<Target>) {
    let Some(remedy) = &fix.simulated else { return };
    if fix.is_advice {
        text_ui(ui, &tr!("Simulated: {}", remedy.text));
    }
    if ui.link(tr!("all fixes")).on_hover_text(tr!("Show every fix with its figures")).clicked() {
        *target = Some(Target::Pane(PaneId::Fixes));
    }
}

/// Lines of code in a well, with a button that copies them.
fn code_ui(ui: &mut egui::Ui, code: &str) {
    theme::well_frame(ui).inner_margin(egui::Margin::symmetric(8, 5)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.with_layout(Layout::right_to_left(Align::TOP), |ui| {
            if ui.small_button(tr!("Copy")).on_hover_text(tr!("Copy this")).clicked() {
                ui.copy_text(code.to_owned());
            }
            ui.with_layout(Layout::top_down(Align::Min), |ui| {
                ui.add(egui::Label::new(RichText::new(code).monospace().size(12.0)).wrap());
            });
        });
    });
}

/// A figure that leads somewhere, at the right of its column.
fn figure_ui(ui: &mut egui::Ui, text: &str, hint: &str) -> bool {
    let size = egui::vec2(FIGURE_PX, ROW_PX);
    let link = ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        ui.set_width(FIGURE_PX);
        ui.link(text)
    });
    link.inner.on_hover_text(hint).clicked()
}

pub(super) fn numbers_ui(ui: &mut egui::Ui, finding: &Finding, target: &mut Option<Target>) {
    if finding.evidence.numbers.is_empty() {
        return;
    }
    part_ui(ui, &tr!("Figures"));
    for Number { label, figure, .. } in &finding.evidence.numbers {
        ui.horizontal(|ui| {
            let (hint, wanted) = match figure.value() {
                Value::Event(event) => (tr!("Go to the event"), Target::Event(event)),
                Value::Bytes(bytes) => {
                    (format!("{}\n{}", units::bytes_exact(bytes), tr!("Go to the moment")), Target::Moment)
                }
                Value::Count(_) | Value::Share(_) | Value::Times(_) => {
                    (tr!("Go to the moment"), Target::Moment)
                }
            };
            if figure_ui(ui, &figure.text(), &hint) {
                *target = Some(wanted);
            }
            ui.add(egui::Label::new(*label).wrap());
        });
    }
}

pub(super) fn allocations_ui(
    ui: &mut egui::Ui,
    finding: &Finding,
    timeline: &Timeline,
    target: &mut Option<Target>,
) {
    let all = &finding.evidence.allocations;
    if all.is_empty() {
        return;
    }
    part_ui(ui, &tr!("Largest allocations"));
    ui.horizontal_wrapped(|ui| {
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        for &id in all.iter().take(MAX_ROWS) {
            let size = units::bytes(timeline.size(id));
            if ui.link(size).on_hover_text(tr!("Select the allocation")).clicked() {
                *target = Some(Target::Allocation(id));
            }
        }
        more_ui(ui, all.len(), MAX_ROWS);
    });
}

/// Events that are not among the figures.
pub(super) fn events_ui(ui: &mut egui::Ui, finding: &Finding, target: &mut Option<Target>) {
    let is_figure =
        |event| finding.evidence.numbers.iter().any(|number| number.figure.value() == Value::Event(event));
    let events: Vec<EventIx> = finding.evidence.events.iter().copied().filter(|&e| !is_figure(e)).collect();
    if events.is_empty() {
        return;
    }
    part_ui(ui, &tr!("Events"));
    ui.horizontal_wrapped(|ui| {
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        for &event in events.iter().take(MAX_ROWS) {
            if ui.link(units::count(event.0)).on_hover_text(tr!("Go to the event")).clicked() {
                *target = Some(Target::Event(event));
            }
        }
        more_ui(ui, events.len(), MAX_ROWS);
    });
}

pub(super) fn notes_ui(ui: &mut egui::Ui, finding: &Finding, predictions: Option<&Predictions>) {
    let simulated = simulated_text(finding, predictions);
    let confirm = finding.confirm.as_ref().map(|text| tr!("To confirm: {text}", text));
    let limits = finding.limits.iter().map(|text| tr!("Not known: {text}", text));
    let notes: Vec<String> = simulated.into_iter().chain(confirm).chain(limits).collect();
    if notes.is_empty() {
        return;
    }
    ui.add_space(6.0);
    for note in notes {
        ui.add(egui::Label::new(theme::muted(ui, note)).wrap());
    }
}
