//! The size of text, and of everything else in the window. The window library stores it.

use eframe::egui::{Context, gui_zoom};

/// A change of the size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextSize {
    Larger,
    Smaller,
    Normal,
}

/// Leave the keys of the size to the table of shortcuts, which explains them.
pub(super) fn install(ctx: &Context) {
    ctx.options_mut(|options| options.zoom_with_keyboard = false);
}

/// The size in percent of the normal one.
pub(super) fn percent(ctx: &Context) -> String {
    format!("{:.0} %", ctx.zoom_factor() * 100.0)
}

/// Change the size by a step, for the next frame.
pub(super) fn change(ctx: &Context, size: TextSize) {
    match size {
        TextSize::Larger => gui_zoom::zoom_in(ctx),
        TextSize::Smaller => gui_zoom::zoom_out(ctx),
        TextSize::Normal => ctx.set_zoom_factor(1.0),
    }
}
