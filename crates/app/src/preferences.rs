//! The user's preferences, for all files.

use crate::details::editor;
use eframe::egui;
use oomscope_model::Bytes;
use tr::tr;

/// Preferences. Those that the command line does not give are kept when the window is closed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub(super) struct Preferences {
    /// The command that starts the user's editor; see [`editor::open`].
    pub(super) editor_command: String,
    /// Bytes that the device has, from the command line.
    #[serde(skip)]
    pub(super) capacity: Option<Bytes>,
}

impl Default for Preferences {
    fn default() -> Self {
        Self { editor_command: editor::DEFAULT_COMMAND.to_owned(), capacity: None }
    }
}

/// The part of the menu that changes them.
pub(super) fn ui(ui: &mut egui::Ui, preferences: &mut Preferences) {
    let label = ui.label(tr!("Editor command"));
    let field = egui::TextEdit::singleline(&mut preferences.editor_command).desired_width(260.0);
    ui.add(field).labelled_by(label.id).on_hover_text(tr!(
        "Started when you open a frame in the editor.\n{file} and {line} are filled in; no shell is involved."
    ));
}
