//! The predictions: a row for each fix, and what to write for the chosen one.

use super::bar::Bar;
use crate::theme;
use eframe::egui::{self, Align, Layout, RichText};
use oomscope_remedies::{Attributed, Figures, Prediction, Predictions};
use oomscope_report::{fit_words, price_text, remedy_basis, remedy_fits, without_effect_line, yes_or_no};
use oomscope_units as units;

/// Share of the width that bars have.
const BAR_SHARE: f32 = 0.42;

/// Room for the button of a row, and for the figures beside a bar, in points.
const BUTTON_PX: f32 = 84.0;
const FIGURE_PX: f32 = 70.0;

/// The fixes that rows show, of which one may be chosen.
pub(super) struct Rows<'a> {
    pub(super) predictions: &'a Predictions,
    /// The chosen one.
    pub(super) shown: usize,
    /// Whether all have rows, not only the best few.
    pub(super) has_all: bool,
}

/// What the user does with a row.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer {
    /// The fix that was clicked.
    pub(super) chosen: Option<usize>,
    /// The fix under the pointer.
    pub(super) pointed: Option<usize>,
}

impl Rows<'_> {
    /// The program as it is, and a row for each fix, best first.
    pub(super) fn ui(&self, ui: &mut egui::Ui) -> Answer {
        let Predictions { baseline, remedies, fits, .. } = self.predictions;
        let mut answer = Answer::default();
        let name = if self.predictions.projected.is_ok() { "As it is" } else { "As recorded" };
        ui.label(theme::small(name));
        ui.horizontal(|ui| self.outcome_ui(ui, *baseline, *fits, &yes_or_no(*fits)));
        for at in self.order() {
            let Some(remedy) = remedies.get(at) else { continue };
            let row = ui.scope(|ui| self.row_ui(ui, at, remedy));
            if row.inner {
                answer.chosen = Some(at);
            }
            if ui.rect_contains_pointer(row.response.rect) {
                answer.pointed = Some(at);
            }
        }
        if let Some(line) = without_effect_line(self.predictions) {
            ui.add(egui::Label::new(theme::muted(ui, line)).wrap());
        }
        answer
    }

    /// The best few, then the others that are shown.
    fn order(&self) -> Vec<usize> {
        let mut order = self.predictions.best.clone();
        let others = (0..self.predictions.remedies.len()).filter(|at| self.has_all || *at == self.shown);
        let others: Vec<usize> = others.filter(|at| !order.contains(at)).collect();
        order.extend(others);
        order
    }

    /// A fix: its name in words and its code, and below that its outcome to scale and its price. True when its name was clicked.
    fn row_ui(&self, ui: &mut egui::Ui, at: usize, remedy: &Prediction) -> bool {
        ui.separator();
        let mut is_clicked = false;
        ui.horizontal(|ui| {
            let name_px = ui.available_width() - BUTTON_PX;
            ui.scope(|ui| {
                ui.set_max_width(name_px);
                let title = theme::small(units::capitalised(&remedy.title));
                let name = egui::Button::selectable(at == self.shown, title).truncate();
                let hint = format!("{}\n{}\nClick to show its code and its curve", remedy.title, remedy.id);
                is_clicked = ui.add(name).on_hover_text(hint).clicked();
            });
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let copy = ui.button(theme::small("Copy code")).on_hover_text(&remedy.code);
                if copy.clicked() {
                    ui.copy_text(remedy.code.clone());
                }
            });
        });
        ui.horizontal(|ui| {
            self.outcome_ui(ui, remedy.figures, remedy.fits, &remedy_fits(remedy));
            let price = price_text(&remedy.price);
            let price = if price.is_empty() { "no more work in a step".to_owned() } else { price };
            let words = theme::muted(ui, format!("{price} · {}", basis(remedy))).size(12.0);
            ui.add(egui::Label::new(words).truncate());
        });
        is_clicked
    }

    /// What is reserved, to scale and in figures, and whether that is enough.
    fn outcome_ui(&self, ui: &mut egui::Ui, figures: Figures, fits: Option<bool>, words: &str) {
        let Predictions { baseline, remedies, capacity, until, .. } = self.predictions;
        let most = remedies.iter().map(|remedy| remedy.figures.peak_reserved).max().unwrap_or(0);
        let scale = most.max(baseline.peak_reserved).max(capacity.unwrap_or(0));
        let (predicted, recorded) = (figures.peak_reserved, baseline.peak_reserved);
        let bar = Bar { predicted, recorded, capacity: *capacity, scale, fits };
        bar.ui(ui, ui.available_width() * BAR_SHARE);
        let figure = |ui: &mut egui::Ui, text: RichText| {
            let size = egui::vec2(FIGURE_PX, ui.spacing().interact_size.y);
            let place = Layout::left_to_right(Align::Center);
            ui.allocate_ui_with_layout(size, place, |ui| {
                ui.set_width(FIGURE_PX);
                ui.label(text)
            })
            .inner
        };
        let bytes = i64::try_from(predicted).unwrap_or(i64::MAX);
        figure(ui, units::bytes(bytes).into()).on_hover_text(units::bytes_exact(bytes));
        let palette = theme::palette(ui);
        // What fits for some iterations only does not fit.
        let is_enough = words.is_empty() || words == yes_or_no(Some(true));
        let color = if is_enough { palette.text } else { palette.oom };
        let head = fit_words(*until).column;
        let said = if words.is_empty() { String::new() } else { format!("{head}: {words}") };
        figure(ui, RichText::new(said).color(theme::color(color)));
    }
}

/// How sure it is, short: what rests on inferred purposes is marked as everywhere else.
fn basis(remedy: &Prediction) -> String {
    let words = remedy_basis(remedy);
    let short = words.strip_prefix("simulated, ").unwrap_or(&words);
    match (short.split_once(", purpose"), remedy.attribution) {
        (Some((short, _)), _) => format!("≈ {short}"),
        (None, Attributed::Inferred) => "≈ simulated".to_owned(),
        (None, Attributed::Seen) => short.to_owned(),
    }
}

/// What to write, what it costs, and what else to know.
pub(super) fn remedy_ui(ui: &mut egui::Ui, remedy: &Prediction) {
    let wrapped = |ui: &mut egui::Ui, text: RichText| {
        ui.add(egui::Label::new(text).wrap());
    };
    wrapped(ui, RichText::new(&remedy.title).strong());
    ui.add_space(4.0);
    wrapped(ui, RichText::new(&remedy.code).monospace().size(12.0));
    if ui.small_button("Copy").on_hover_text("Copy the code").clicked() {
        ui.copy_text(remedy.code.clone());
    }
    ui.add_space(4.0);
    for precondition in &remedy.preconditions {
        wrapped(ui, RichText::new(format!("It applies because {}", precondition.text())));
    }
    wrapped(ui, RichText::new(format!("Costs {}", remedy.cost)));
    wrapped(ui, theme::muted(ui, &remedy.note));
}
