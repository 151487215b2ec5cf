//! The files that were opened last.

use super::watch::{FileWatch, OnDisk};
use crate::app::command::Command;
use crate::app::theme;
use crate::units;
use eframe::egui;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Where what is said about a file begins in a list, in points.
pub(super) const NOTE_PX: f32 = 180.0;

/// How many are remembered.
const MAX_FILES: usize = 10;

/// Files, the latest first, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::app) struct Recent {
    files: Vec<PathBuf>,
}

/// One file, as lists show it.
pub(in crate::app) struct Entry<'a> {
    path: &'a Path,
    /// Whether it is gone.
    is_missing: bool,
}

impl Recent {
    /// A file was opened.
    pub(in crate::app) fn add(&mut self, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        // What is kept is text, and other paths would spoil the whole list.
        if path.to_str().is_none() {
            return;
        }
        self.files.retain(|file| *file != path);
        self.files.insert(0, path);
        self.files.truncate(MAX_FILES);
    }

    /// The files, the latest first.
    pub(in crate::app) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The files for a list.
    pub(in crate::app) fn entries<'a>(&'a self, watch: &FileWatch) -> Vec<Entry<'a>> {
        let entry = |path: &'a PathBuf| Entry { path, is_missing: watch.seen(path) == OnDisk::Missing };
        self.files.iter().map(entry).collect()
    }
}

impl Entry<'_> {
    fn name(&self) -> String {
        units::printable(&self.path.file_name().unwrap_or_default().to_string_lossy())
    }

    fn folder(&self) -> String {
        units::printable(&self.path.parent().unwrap_or(Path::new("")).display().to_string())
    }

    /// What is said beside the name.
    fn note(&self) -> String {
        if self.is_missing { format!("{} · no longer there", self.folder()) } else { self.folder() }
    }
}

/// The menu beside the Open button.
pub(in crate::app) fn menu(ui: &mut egui::Ui, entries: &[Entry<'_>], commands: &mut Vec<Command>) {
    if entries.is_empty() {
        return;
    }
    let menu = ui.menu_button("Recent", |ui| {
        ui.set_min_width(320.0);
        for entry in entries {
            let button = egui::Button::new(entry.name())
                .right_text(theme::muted(ui, entry.note()).size(11.0))
                .truncate();
            if ui
                .add_enabled(!entry.is_missing, button)
                .on_hover_text(entry.path.display().to_string())
                .clicked()
            {
                commands.push(Command::OpenFile(entry.path.to_owned()));
                ui.close();
            }
        }
        ui.separator();
        if ui.button("Clear this list").clicked() {
            commands.push(Command::ForgetRecent);
            ui.close();
        }
    });
    menu.response.on_hover_text("Files that were opened last");
}

/// The list on the start page.
pub(in crate::app) fn list(ui: &mut egui::Ui, entries: &[Entry<'_>], commands: &mut Vec<Command>) {
    for entry in entries {
        ui.horizontal(|ui| {
            let left = ui.cursor().left();
            let name = ui.add_enabled(!entry.is_missing, egui::Link::new(entry.name()));
            if name.on_hover_text(entry.path.display().to_string()).clicked() {
                commands.push(Command::OpenFile(entry.path.to_owned()));
            }
            ui.add_space((left + NOTE_PX - ui.cursor().left()).max(0.0));
            ui.add(egui::Label::new(theme::muted(ui, entry.note()).size(12.0)).truncate());
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_comes_first_each_file_once_and_ten_at_most() {
        let mut recent = Recent::default();
        for i in 0..15 {
            recent.add(Path::new(&format!("/runs/{i}.pickle")));
        }
        recent.add(Path::new("/runs/9.pickle"));
        let names: Vec<String> = recent.files().iter().map(|file| file.display().to_string()).collect();
        assert_eq!(names.len(), MAX_FILES);
        assert_eq!(names[..3], ["/runs/9.pickle", "/runs/14.pickle", "/runs/13.pickle"]);
        assert_eq!(names.iter().filter(|name| name.as_str() == "/runs/9.pickle").count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn paths_that_are_no_text_are_not_remembered() {
        use std::os::unix::ffi::OsStrExt as _;
        let mut recent = Recent::default();
        recent.add(Path::new("/runs/a.pickle"));
        recent.add(Path::new(std::ffi::OsStr::from_bytes(b"/runs/\xff.pickle")));
        assert_eq!(recent.files(), [Path::new("/runs/a.pickle")]);
    }
}
