//! *Open*: a field for a path inside the window, which works without the system's dialogs.

use crate::command::{Command, Wanted};
use crate::files::file_page::notice_frame;
use crate::paths::{Kinds, PathPicker, Places};
use crate::work::worker::WorkMode;
use crate::{dialog, theme};
use eframe::egui;
use std::path::{Path, PathBuf};
use tr::tr;

/// Largest height of the list, in points: a dozen rows.
const LIST_PX: f32 = 264.0;

/// The panel; at most one is shown.
#[derive(Default)]
pub(super) struct OpenPanel {
    picker: Option<PathPicker>,
    /// Why the system's dialog did not open.
    said: Option<String>,
}

impl OpenPanel {
    /// Show it in the folder of a file, or hide it.
    pub(super) fn toggle(&mut self, file: Option<&Path>) {
        self.said = None;
        if self.picker.take().is_some() {
            return;
        }
        let places = Places::of_process();
        let folder = file.and_then(Path::parent).unwrap_or_else(|| places.start());
        let text = places.shown_folder(folder);
        self.picker = Some(PathPicker::new(Kinds::Snapshots, places, text));
    }

    pub(super) fn close(&mut self) {
        self.picker = None;
    }

    /// Say something in the panel; gives it back if that is not shown.
    pub(super) fn say(&mut self, text: String) -> Option<String> {
        if self.picker.is_none() {
            return Some(text);
        }
        self.said = Some(text);
        None
    }

    pub(super) fn is_shown(&self) -> bool {
        self.picker.is_some()
    }

    /// The panel, if it is shown.
    pub(super) fn ui(&mut self, ctx: &egui::Context, mode: WorkMode, commands: &mut Vec<Command>) {
        let Some(picker) = &mut self.picker else { return };
        let mut picked = None;
        let mut is_open = dialog::ui(ctx, &tr!("Open snapshots"), |ui| {
            picked = picker.ui(ui, mode, LIST_PX);
            ui.separator();
            picked = picked.take().or(ui.horizontal(|ui| buttons_ui(ui, picker, commands)).inner);
            if let Some(said) = &self.said {
                notice_frame(ui).show(ui, |ui| {
                    ui.set_width(ui.available_width());
                    ui.add(egui::Label::new(said).wrap());
                });
            }
        });
        if let Some(path) = picked {
            commands.push(Command::OpenFile(path));
            is_open = false;
        }
        if !is_open {
            self.picker = None;
        }
    }
}

/// Other ways than the keyboard. Returns the folder that was picked.
fn buttons_ui(ui: &mut egui::Ui, picker: &mut PathPicker, commands: &mut Vec<Command>) -> Option<PathBuf> {
    if ui.button(tr!("Open")).on_hover_text("Enter").clicked() {
        picker.enter(ui.ctx());
    }
    if ui.button(tr!("System dialog…")).on_hover_text(tr!("Choose with the dialog of the desktop")).clicked()
    {
        commands.push(Command::SystemDialog(picker.folder(), Wanted::Files));
    }
    if ui.button(tr!("Folder dialog…")).on_hover_text(tr!("The same for a folder")).clicked() {
        commands.push(Command::SystemDialog(picker.folder(), Wanted::Folders));
    }
    let folder = ui
        .button(tr!("This folder"))
        .on_hover_text(tr!("Open the list of its snapshots, with their verdicts"));
    let keys = tr!("Tab completes · arrows choose · Enter opens · Esc closes");
    ui.add(egui::Label::new(theme::muted(ui, keys).size(11.0)).truncate());
    folder.clicked().then(|| picker.folder())
}
