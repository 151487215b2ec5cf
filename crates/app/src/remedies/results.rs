//! The predictions: a row for each remedy, and what to write for the chosen one.

use crate::theme;
use eframe::egui::{self, RichText};
use oomscope_remedies::{Attributed, Figures, Prediction, Predictions};
use oomscope_report::{
    fit_words, price_text, remedy_basis, remedy_change, remedy_fits, without_effect_line, yes_or_no,
};
use oomscope_units as units;

/// Largest width of ids, in points; longer ones are cut.
const ID_PX: f32 = 205.0;

/// The table, of all remedies or of the best few. Returns the row that was clicked, if one was.
pub(super) fn table_ui(
    ui: &mut egui::Ui,
    predictions: &Predictions,
    (shown, has_all): (usize, bool),
) -> Option<usize> {
    let mut chosen = None;
    egui::Grid::new("remedies").num_columns(7).striped(true).spacing([14.0, 4.0]).show(ui, |ui| {
        let fits = fit_words(predictions.until).column;
        for name in ["fix", "peak requested", "", "peak reserved", fits, "price", "basis"] {
            ui.label(theme::muted(ui, name).size(12.0));
        }
        ui.end_row();
        ui.label(theme::small(if predictions.projected.is_ok() { "as it is" } else { "as recorded" }));
        figures_ui(ui, predictions, predictions.baseline, yes_or_no(predictions.fits));
        ui.end_row();
        for (at, remedy) in predictions.remedies.iter().enumerate() {
            if !has_all && !predictions.best.contains(&at) && at != shown {
                continue;
            }
            if id_ui(ui, remedy, at == shown) {
                chosen = Some(at);
            }
            figures_ui(ui, predictions, remedy.figures, remedy_fits(remedy));
            ui.label(theme::small(price_text(&remedy.price)));
            basis_ui(ui, remedy);
            ui.end_row();
        }
    });
    if let Some(line) = without_effect_line(predictions) {
        ui.add(egui::Label::new(theme::muted(ui, line)).wrap());
    }
    chosen
}

/// How sure it is, short: what most of it rests on is marked as everywhere else, and the words are one hover away.
fn basis_ui(ui: &mut egui::Ui, remedy: &Prediction) {
    let words = remedy_basis(remedy);
    let short = words.strip_prefix("simulated, ").unwrap_or(&words);
    let short = match (short.split_once(", purpose"), remedy.attribution) {
        (Some((short, _)), _) => format!("≈ {short}"),
        (None, Attributed::Inferred) => "≈ simulated".to_owned(),
        (None, Attributed::Seen) => short.to_owned(),
    };
    ui.label(theme::small(short)).on_hover_text(words);
}

/// The id, cut where it is long; true when it was clicked.
fn id_ui(ui: &mut egui::Ui, remedy: &Prediction, is_shown: bool) -> bool {
    ui.scope(|ui| {
        ui.set_max_width(ID_PX);
        let button = egui::Button::selectable(is_shown, theme::small(&remedy.id)).truncate();
        ui.add(button).on_hover_text(&remedy.title).clicked()
    })
    .inner
}

fn figures_ui(ui: &mut egui::Ui, predictions: &Predictions, figures: Figures, fits: String) {
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    let bytes_ui = |ui: &mut egui::Ui, bytes: u64| {
        ui.label(units::bytes(signed(bytes))).on_hover_text(units::bytes_exact(signed(bytes)));
    };
    bytes_ui(ui, figures.peak_requested);
    ui.label(theme::muted(ui, remedy_change(predictions.baseline.peak_requested, figures.peak_requested)));
    bytes_ui(ui, figures.peak_reserved);
    let palette = theme::palette(ui);
    // What fits for some iterations only does not fit.
    let color = if fits.is_empty() || fits == yes_or_no(Some(true)) { palette.text } else { palette.oom };
    ui.label(RichText::new(fits).color(theme::color(color)));
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
