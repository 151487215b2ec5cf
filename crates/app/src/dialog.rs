//! Panels over the top of the window, with nothing modal about them.

use eframe::egui::{self, Align2, Window};

/// Largest width, in points: most paths fit.
const MAX_WIDTH_PX: f32 = 720.0;

/// Space at the sides, in points.
const MARGINS_PX: f32 = 48.0;

/// Distance from the window's top, in points: the tabs stay in sight.
const TOP_PX: f32 = 44.0;

/// A panel over the top of the window, as wide as the window has room for.
pub(super) fn panel<'a>(ctx: &egui::Context, title: &'a str, is_open: &'a mut bool) -> Window<'a> {
    let width = MAX_WIDTH_PX.min(ctx.content_rect().width() - MARGINS_PX);
    Window::new(title)
        .open(is_open)
        .collapsible(false)
        .resizable(false)
        .anchor(Align2::CENTER_TOP, egui::vec2(0.0, TOP_PX))
        .min_width(width)
        .max_width(width)
}
