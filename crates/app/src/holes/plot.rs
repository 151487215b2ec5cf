//! Lines over time: axes, labels and marks that all plots share.

use crate::theme;
use eframe::egui;
use egui_plot::{Corner, GridMark, HoverPosition, Legend, Line, Plot, PlotPoint, PlotPoints};
use oomscope_draw::{Axis, Palette, Rgb, Tick, byte_ticks, event_ticks, time_ticks};
use oomscope_units as units;

/// Plots that are lower than this, in points, have no legend: it would lie over the lines, whose names
/// appear when they are pointed at.
const MIN_LEGEND_PX: f32 = 130.0;

/// Room for a label of the axis of events, in points: nearer ones would fade.
const LABEL_PX: f32 = 110.0;

/// Width of the axis of bytes, in points. With its margin it is about as wide as the timeline's, so that
/// both views start at the same place.
const BYTES_AXIS_PX: f32 = 58.0;

/// A total as a line.
pub(super) fn curve<'a>(name: &str, points: &'a [PlotPoint], color: Rgb) -> Line<'a> {
    Line::new(name, PlotPoints::Borrowed(points)).color(theme::color(color)).width(1.25)
}

/// Axes of moments and bytes that stay where they are, with a legend where it leaves room for the lines.
pub(super) fn plot(ui: &egui::Ui, id: &str, axis: Axis) -> Plot<'static> {
    let palette = theme::palette(ui);
    // One label alone would give no scale.
    let columns = (ui.available_width() / LABEL_PX) as usize;
    let plot = axes(id, palette, axis, columns.clamp(2, 8));
    if ui.available_height() < MIN_LEGEND_PX {
        return plot;
    }
    let legend = Legend::default().position(Corner::LeftTop).text_style(egui::TextStyle::Small);
    plot.legend(legend.background_alpha(0.6))
}

fn axes(id: &str, palette: &Palette, axis: Axis, columns: usize) -> Plot<'static> {
    fixed(id, axis)
        .grid_color(theme::faded(palette.line, 0.8))
        .y_axis_min_width(BYTES_AXIS_PX)
        .x_grid_spacer(move |input| {
            let (from, to) = input.bounds;
            marks(&match axis {
                Axis::Event => event_ticks(from, to, columns),
                Axis::Time => time_ticks(from, to, columns),
            })
        })
        .y_grid_spacer(|input| marks(&byte_ticks(input.bounds.0, input.bounds.1, 4)))
        .x_axis_formatter(move |mark, shown| {
            // The first label would touch the other axis, and one near the end would be cut.
            let margin = 0.03 * (shown.end() - shown.start());
            let is_free = 1.0 < mark.value && margin < shown.end() - mark.value;
            match axis {
                _ if !is_free => String::new(),
                Axis::Event => units::count(mark.value as i64 - 1),
                Axis::Time => units::time_at_step(mark.value as i64, mark.step_size as i64),
            }
        })
        .y_axis_formatter(|mark, _| units::bytes_at_step(mark.value as i64, mark.step_size as i64))
}

/// A plot that shows what it is told to show, and says what is under the pointer.
fn fixed(id: &str, axis: Axis) -> Plot<'static> {
    Plot::new(id.to_owned())
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .show_background(false)
        .set_margin_fraction(egui::Vec2::ZERO)
        .label_formatter(move |hover| match hover {
            HoverPosition::NearDataPoint { plot_name, position, .. } => {
                Some(label(plot_name, axis, *position))
            }
            HoverPosition::Elsewhere { .. } => None,
        })
}

/// A plot without axes, for a place with axes of its own.
pub(super) fn bare(id: &str, axis: Axis) -> Plot<'static> {
    fixed(id, axis).show_axes(false).show_grid(false)
}

fn label(name: &str, axis: Axis, at: PlotPoint) -> String {
    let place = match (axis, (at.x as i64).checked_sub(1).filter(|&event| 0 <= event)) {
        (Axis::Time, _) => format!("after {}", units::time_exact_us(at.x as i64)),
        (Axis::Event, None) => "before the first event".to_owned(),
        (Axis::Event, Some(event)) => format!("after event {}", units::count(event)),
    };
    format!("{name} {}\n{place}", units::bytes_exact(at.y as i64))
}

fn marks(ticks: &[Tick]) -> Vec<GridMark> {
    let step = match ticks {
        [a, b, ..] => b.at - a.at,
        _ => ticks.first().map_or(1.0, |tick| tick.at.max(1.0)),
    };
    ticks.iter().map(|tick| GridMark { value: tick.at, step_size: step }).collect()
}
