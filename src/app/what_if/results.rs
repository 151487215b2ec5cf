//! What came of the simulations: a row each, and reserved memory over time beside the recorded.

use super::work::{Answer, Simulated};
use crate::app::curves_panel::{curve, plot};
use crate::app::device::DeviceState;
use crate::app::theme;
use crate::model::Moment;
use crate::report::{export_line, outcome_text};
use crate::units;
use eframe::egui::{self, RichText};

/// The table. Returns the row that was clicked, if one was.
pub(super) fn table_ui(ui: &mut egui::Ui, answer: &Answer, shown: usize) -> Option<usize> {
    let mut chosen = None;
    egui::Grid::new("simulations").num_columns(5).striped(true).spacing([14.0, 4.0]).show(ui, |ui| {
        for name in ["settings", "peak reserved", "largest hole", "cudaMalloc", "outcome"] {
            ui.label(theme::muted(ui, name).size(12.0));
        }
        ui.end_row();
        for (at, row) in answer.rows.iter().enumerate() {
            let name = settings_name(at, row);
            let name = RichText::new(name).size(12.0);
            if ui.selectable_label(at == shown, name).on_hover_text("Show its memory over time").clicked() {
                chosen = Some(at);
            }
            row_ui(ui, row, answer.recommended == Some(at));
            ui.end_row();
        }
    });
    chosen
}

fn settings_name(at: usize, row: &Simulated) -> String {
    match (at, row.outcome.settings.conf()) {
        (0, conf) if conf.is_empty() => "as recorded (default)".to_owned(),
        (0, conf) => format!("as recorded ({conf})"),
        (_, conf) if conf.is_empty() => "default settings".to_owned(),
        (_, conf) => conf,
    }
}

fn row_ui(ui: &mut egui::Ui, row: &Simulated, is_recommended: bool) {
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    let (peak, hole) = (signed(row.outcome.peak_reserved_bytes()), signed(row.outcome.largest_hole_bytes));
    ui.label(units::bytes(peak)).on_hover_text(units::bytes_exact(peak));
    ui.label(units::bytes(hole)).on_hover_text(units::bytes_exact(hole));
    ui.label(units::count(row.outcome.segment_allocs()));
    ui.horizontal(|ui| {
        let text = outcome_text(&row.outcome);
        let palette = theme::palette(ui);
        let color = theme::color(if row.outcome.fits() { palette.text } else { palette.oom });
        ui.label(RichText::new(text).color(color));
        if is_recommended {
            ui.label(theme::strong("smallest change that fits", 12.0));
        }
        let conf = row.outcome.settings.conf();
        let hint = "Copy the line to export";
        if !conf.is_empty() && ui.small_button("Copy").on_hover_text(hint).clicked() {
            ui.copy_text(format!("export {}", export_line(&row.outcome.settings)));
        }
    });
}

/// Reserved memory as recorded and as simulated, on the same axes. A click moves the cursor.
pub(super) fn plot_ui(ui: &mut egui::Ui, device: &mut DeviceState, row: &Simulated) {
    let palette = theme::palette(ui);
    let top = row.outcome.peak_reserved_bytes() as f64 * 1.05;
    let full = device.full;
    let clicked = {
        let curves = &device.curves;
        let lines = [
            ("allocated", &curves.allocated, palette.allocated),
            ("reserved, recorded", &curves.reserved, palette.reserved),
            ("reserved, simulated", &row.reserved, palette.accent),
        ];
        let shown = plot("what if", palette).show(ui, |plot| {
            plot.set_plot_bounds_x(0.0..=device.timeline().moments() as f64);
            plot.set_plot_bounds_y(full.y0..=full.y1.max(top));
            for (name, points, color) in lines {
                plot.line(curve(name, points, color));
            }
            plot.response().clicked().then(|| plot.pointer_coordinate()).flatten()
        });
        shown.inner
    };
    if let Some(at) = clicked {
        let last = device.timeline().moments().saturating_sub(1) as f64;
        device.go_to(Moment(at.x.clamp(0.0, last) as u32));
    }
}
