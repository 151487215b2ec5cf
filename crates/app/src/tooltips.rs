//! Texts beside the pointer that several panes lay out alike.

use crate::theme;
use eframe::egui;

/// A title, a line, and less important ones.
pub(crate) fn lines_ui(ui: &mut egui::Ui, lines: &[String]) {
    for (i, line) in lines.iter().enumerate() {
        match i {
            0 => ui.label(theme::strong(line.as_str(), 13.0)),
            1 => ui.label(line.as_str()),
            _ => ui.label(theme::muted(ui, line.as_str())),
        };
    }
}
