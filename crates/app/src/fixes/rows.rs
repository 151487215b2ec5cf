//! A row for each fix, and what to write for those that are unfolded.

use super::bar::Bar;
use crate::theme;
use eframe::egui::{self, Align, Layout, RichText};
use oomscope_remedies::{Attributed, Figures, Prediction, Predictions};
use oomscope_report::{Fix, NO_PRICE, fit_words, price_text, remedy_basis, remedy_fits, yes_or_no};
use oomscope_units as units;
use tr::tr;

/// Room for the button of a row, in points.
const BUTTON_PX: f32 = 84.0;

/// The fixes that rows show.
pub(super) struct Rows<'a> {
    pub(super) predictions: &'a Predictions,
    /// The name of the program without a change.
    pub(super) unchanged: &'static str,
    /// What the verdict advises: the row of that change is the first, and has its words and its code.
    pub(super) advised: Option<&'a Fix>,
    /// The one that is unfolded.
    pub(super) shown: Option<usize>,
    /// Whether all have rows, not only the best few.
    pub(super) has_all: bool,
}

/// What the user does with a row.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer {
    /// The fix that was clicked.
    pub(super) clicked: Option<usize>,
    /// The fix under the pointer, or that has the keyboard.
    pub(super) pointed: Option<usize>,
}

impl Rows<'_> {
    /// The program as it is, and a row for each fix, best first.
    pub(super) fn ui(&self, ui: &mut egui::Ui) -> Answer {
        let Predictions { baseline, remedies, fits, .. } = self.predictions;
        let mut answer = Answer::default();
        outcome_words_ui(ui, self.predictions, *baseline, &yes_or_no(*fits), self.unchanged);
        for at in self.order() {
            let Some(remedy) = remedies.get(at) else { continue };
            let row = ui.scope(|ui| self.row_ui(ui, at, remedy));
            let (is_clicked, has_focus) = row.inner;
            if is_clicked {
                answer.clicked = Some(at);
            }
            if has_focus || ui.rect_contains_pointer(row.response.rect) {
                answer.pointed = Some(at);
            }
        }
        let idle = &self.predictions.without_effect;
        if !idle.is_empty() {
            let text = tr!(
                "{} other change without effect on the peak"
                    | "{} other changes without effect on the peak" % idle.len(),
                units::count(idle.len() as u64)
            );
            ui.label(theme::muted(ui, text)).on_hover_text(idle.join("\n"));
        }
        answer
    }

    /// What is advised, the best few, then the others that are shown.
    fn order(&self) -> Vec<usize> {
        let Predictions { remedies, best, .. } = self.predictions;
        let mut order: Vec<usize> =
            remedies.iter().position(|remedy| self.advice(remedy).is_some()).into_iter().collect();
        let others = (0..remedies.len()).filter(|at| self.has_all || Some(*at) == self.shown);
        for at in best.iter().copied().chain(others) {
            if !order.contains(&at) {
                order.push(at);
            }
        }
        order
    }

    /// The advice that is this very change.
    fn advice(&self, remedy: &Prediction) -> Option<&Fix> {
        self.advised.filter(|fix| fix.simulated.as_ref().is_some_and(|own| own.id == remedy.id))
    }

    /// A fix: its name in words and its code, and below that its outcome to scale and its price. Whether its name was clicked, and
    /// whether it has the keyboard.
    fn row_ui(&self, ui: &mut egui::Ui, at: usize, remedy: &Prediction) -> (bool, bool) {
        ui.separator();
        let is_shown = Some(at) == self.shown;
        let advice = self.advice(remedy);
        let title = units::capitalised(&remedy.title);
        let code = advice.and_then(|fix| fix.code.as_ref()).unwrap_or(&remedy.code);
        let name = ui.horizontal(|ui| {
            let name_px = ui.available_width() - BUTTON_PX;
            let name = ui.scope(|ui| {
                ui.set_max_width(name_px);
                let name = egui::Button::selectable(is_shown, theme::small(title)).wrap();
                ui.add(name).on_hover_text(tr!("Show its curve, its code and what it costs"))
            });
            ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
                let copy = ui.button(theme::small(tr!("Copy code"))).on_hover_text(code);
                if copy.clicked() {
                    ui.copy_text(code.clone());
                }
            });
            name.inner
        });
        let price = price_text(&remedy.price);
        let price = if price == NO_PRICE { tr!("no more work in a step") } else { price };
        let words = format!("{price} · {}", basis(remedy));
        outcome_ui(ui, self.predictions, remedy.figures, remedy.fits, &remedy_fits(remedy), &words);
        if is_shown {
            remedy_ui(ui, remedy, advice.map(|fix| fix.text.as_str()), code);
        }
        (name.inner.clicked(), name.inner.has_focus())
    }
}

/// What is reserved, to scale and in figures, and whether that is enough, before other words.
pub(super) fn outcome_ui(
    ui: &mut egui::Ui,
    predictions: &Predictions,
    figures: Figures,
    fits: Option<bool>,
    fit: &str,
    words: &str,
) {
    let Predictions { baseline, remedies, capacity, .. } = predictions;
    let most = remedies.iter().map(|remedy| remedy.figures.peak_reserved).max().unwrap_or(0);
    let scale = most.max(baseline.peak_reserved).max(capacity.unwrap_or(0));
    let (predicted, recorded) = (figures.peak_reserved, baseline.peak_reserved);
    let bar = Bar { predicted, recorded, capacity: *capacity, scale, fits };
    bar.ui(ui, ui.available_width());
    outcome_words_ui(ui, predictions, figures, fit, words);
}

/// The same without the bar.
fn outcome_words_ui(ui: &mut egui::Ui, predictions: &Predictions, figures: Figures, fit: &str, words: &str) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let bytes = i64::try_from(figures.peak_reserved).unwrap_or(i64::MAX);
        ui.label(theme::small(units::bytes(bytes))).on_hover_text(units::bytes_exact(bytes));
        if !fit.is_empty() {
            let palette = theme::palette(ui);
            // What fits for some iterations only does not fit.
            let color = if fit == yes_or_no(Some(true)) { palette.text } else { palette.oom };
            let head = fit_words(predictions.until).column;
            ui.label(theme::small(format!("{head}: {fit}")).color(theme::color(color)));
        }
        ui.label(theme::muted(ui, words).size(12.0));
    });
}

/// How sure it is, short: what rests on inferred purposes is marked as everywhere else.
fn basis(remedy: &Prediction) -> String {
    let words = remedy_basis(remedy);
    let short = words.strip_prefix("simulated, ").unwrap_or(&words);
    match (short.split_once(", purpose"), remedy.attribution) {
        (Some((short, _)), _) => format!("≈ {short}"),
        (None, Attributed::Inferred) => tr!("≈ simulated"),
        (None, Attributed::Seen) => short.to_owned(),
    }
}

/// Why it applies, what to write, what it costs, and what else to know.
fn remedy_ui(ui: &mut egui::Ui, remedy: &Prediction, advice: Option<&str>, code: &str) {
    let wrapped = |ui: &mut egui::Ui, text: RichText| {
        ui.add(egui::Label::new(text).wrap());
    };
    if let Some(advice) = advice {
        wrapped(ui, RichText::new(advice));
    }
    theme::well_frame(ui).inner_margin(egui::Margin::symmetric(8, 5)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        wrapped(ui, RichText::new(code).monospace().size(12.0));
    });
    for precondition in &remedy.preconditions {
        wrapped(ui, theme::muted(ui, tr!("It applies because {}", precondition.text())));
    }
    wrapped(ui, theme::muted(ui, tr!("Costs {}", remedy.cost)));
    if !remedy.note.is_empty() {
        wrapped(ui, theme::muted(ui, &remedy.note));
    }
}
