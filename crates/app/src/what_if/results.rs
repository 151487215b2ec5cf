//! The outcomes of simulations: a row for each, and reserved memory over time beside the recorded.

use super::simulating::{Simulated, WhatIfResponse};
use crate::accessible;
use crate::device::Standpoint;
use crate::device::curves::Curves;
use crate::plot::{curve, plot};
use crate::theme;
use eframe::egui::{self, RichText};
use oomscope_draw::Axis;
use oomscope_model::{Bytes, Moment, Timeline};
use oomscope_report::{export_line, fit_words, outcome_in_short, outcome_text};
use oomscope_units as units;

/// Largest width of the names of settings, in points; longer ones are cut.
const NAME_PX: f32 = 190.0;

/// Room above the highest point of a curve, as a factor on it.
const HEADROOM: f64 = 1.05;

/// The table. Returns the row that was clicked, if one was.
pub(super) fn table_ui(ui: &mut egui::Ui, answer: &WhatIfResponse, shown: usize) -> Option<usize> {
    let mut chosen = None;
    egui::Grid::new("simulations").num_columns(6).striped(true).spacing([14.0, 4.0]).show(ui, |ui| {
        for name in ["settings", "outcome", "peak reserved", "largest hole", "cudaMalloc"] {
            ui.label(theme::muted(ui, name).size(12.0));
        }
        ui.end_row();
        for (at, row) in answer.rows.iter().enumerate() {
            if name_ui(ui, &settings_name(at, row), at == shown) {
                chosen = Some(at);
            }
            row_ui(ui, row);
            ui.end_row();
        }
    });
    chosen
}

/// The settings, cut where they are long; true when they were clicked.
fn name_ui(ui: &mut egui::Ui, name: &str, is_shown: bool) -> bool {
    ui.scope(|ui| {
        ui.set_max_width(NAME_PX);
        let text = theme::small(name);
        let button = egui::Button::selectable(is_shown, text).truncate();
        ui.add(button).on_hover_text(format!("{name}\nShow its memory over time")).clicked()
    })
    .inner
}

fn settings_name(at: usize, row: &Simulated) -> String {
    match (at, row.outcome.settings.conf()) {
        (0, conf) if conf.is_empty() => "as recorded (default)".to_owned(),
        (0, conf) => format!("as recorded ({conf})"),
        (_, conf) if conf.is_empty() => "default settings".to_owned(),
        (_, conf) => conf,
    }
}

fn row_ui(ui: &mut egui::Ui, row: &Simulated) {
    let (peak, hole) =
        (Bytes::of_size(row.outcome.peak_reserved_bytes()), Bytes::of_size(row.outcome.largest_hole_bytes));
    let palette = theme::palette(ui);
    let color = theme::color(if row.outcome.fits() { palette.text } else { palette.oom });
    let outcome = RichText::new(outcome_in_short(&row.outcome)).color(color);
    ui.label(outcome).on_hover_text(outcome_text(&row.outcome));
    ui.label(units::bytes(peak)).on_hover_text(units::bytes_exact(peak));
    ui.label(units::bytes(hole)).on_hover_text(units::bytes_exact(hole));
    ui.label(units::count(row.outcome.segment_allocs()));
    let conf = row.outcome.settings.conf();
    if !conf.is_empty() {
        copy_ui(ui, row);
    }
}

fn copy_ui(ui: &mut egui::Ui, row: &Simulated) {
    if ui.small_button("Copy").on_hover_text("Copy the line to export").clicked() {
        ui.copy_text(format!("export {}", export_line(&row.outcome.settings)));
    }
}

/// The smallest change with which everything fits, if one was looked for and found.
pub(super) fn recommended_ui(ui: &mut egui::Ui, answer: &WhatIfResponse) {
    let Some(row) = answer.recommended.and_then(|at| answer.rows.get(at)) else { return };
    ui.horizontal(|ui| {
        ui.label(format!("The smallest change that {}:", fit_words(row.outcome.until).fits));
        ui.label(RichText::new(export_line(&row.outcome.settings)).monospace().size(12.0));
        copy_ui(ui, row);
    });
}

/// Reserved memory as recorded and as simulated, on the same axes. A click moves the cursor.
pub(super) fn plot_ui(
    ui: &mut egui::Ui,
    timeline: &Timeline,
    curves: &Curves,
    at: &mut Standpoint,
    row: &Simulated,
) {
    let palette = theme::palette(ui);
    let top = row.outcome.peak_reserved_bytes() as f64 * HEADROOM;
    let full = at.full;
    let lines = [
        ("allocated", &curves.allocated, palette.allocated),
        ("reserved, recorded", &curves.reserved, palette.reserved),
        ("reserved, simulated", &row.reserved, palette.accent),
    ];
    let clicked = plot(ui, "what if", Axis::Event).show(ui, |plot| {
        // What is projected lies beyond the recording.
        let end = row.reserved.last().map_or(0.0, |point| point.x).max(timeline.moments() as f64);
        plot.set_plot_bounds_x(0.0..=end);
        plot.set_plot_bounds_y(full.y0..=full.y1.max(top));
        for (name, points, color) in lines {
            plot.line(curve(name, points, color));
        }
        plot.response().clicked().then(|| plot.pointer_coordinate()).flatten()
    });
    accessible::picture(&clicked.response, "Reserved memory over time", || {
        let recorded = timeline.reserved.peak().1;
        let simulated = Bytes::of_size(row.outcome.peak_reserved_bytes());
        format!("at most {} recorded, {} simulated", units::bytes(recorded), units::bytes(simulated))
    });
    if let Some(clicked) = clicked.inner {
        let last = timeline.moments().saturating_sub(1) as f64;
        at.go_to(Moment(clicked.x.clamp(0.0, last) as u32));
    }
}
