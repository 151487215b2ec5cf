//! A plot of lines that shows what it is told to show, in a place with axes of its own.

use eframe::egui;
use egui_plot::{HoverPosition, Plot, PlotPoint};
use oomscope_draw::Axis;
use oomscope_units as units;
use tr::tr;

/// A plot that says what is under the pointer.
pub(super) fn bare(id: &str, axis: Axis) -> Plot<'static> {
    Plot::new(id.to_owned())
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .show_background(false)
        .show_axes(false)
        .show_grid(false)
        .set_margin_fraction(egui::Vec2::ZERO)
        .label_formatter(move |hover| match hover {
            HoverPosition::NearDataPoint { plot_name, position, .. } => {
                Some(label(plot_name, axis, *position))
            }
            HoverPosition::Elsewhere { .. } => None,
        })
}

fn label(name: &str, axis: Axis, at: PlotPoint) -> String {
    let place = match (axis, (at.x as i64).checked_sub(1).filter(|&event| 0 <= event)) {
        (Axis::Time, _) => tr!("after {}", units::time_exact_us(at.x as i64)),
        (Axis::Event, None) => tr!("before the first event"),
        (Axis::Event, Some(event)) => tr!("after event {}", units::count(event)),
    };
    format!("{name} {}\n{place}", units::bytes_exact(at.y as i64))
}
