//! The files that were opened last.

use super::watch::{FileWatch, OnDisk};
use crate::app::command::Command;
use crate::app::theme;
use crate::units;
use eframe::egui;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Distance from the start of a file's name to that of the note about it, in points: common names fit.
pub(super) const NOTE_PX: f32 = 180.0;

/// Smallest width of the menu, in points: room for a name and some of its folder.
const MIN_MENU_PX: f32 = 320.0;

/// Files that are remembered: as many as a menu shows without scrolling.
const MAX_FILES: usize = 10;

/// Files, the latest first, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::app) struct RecentFiles {
    files: Vec<PathBuf>,
}

/// One file, as lists show it.
pub(in crate::app) struct RecentFile<'a> {
    path: &'a Path,
    /// There is no such file any more.
    is_missing: bool,
}

impl RecentFiles {
    /// Note that a file was opened.
    pub(in crate::app) fn add(&mut self, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        // The list is stored as text, and a path that is none would spoil all of it.
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

    /// The files for a list, with what the watch has seen of them.
    pub(in crate::app) fn seen_by<'a>(&'a self, watch: &FileWatch) -> Vec<RecentFile<'a>> {
        let file = |path: &'a PathBuf| RecentFile { path, is_missing: watch.seen(path) == OnDisk::Missing };
        self.files.iter().map(file).collect()
    }
}

impl RecentFile<'_> {
    fn name(&self) -> String {
        units::printable(&self.path.file_name().unwrap_or_default().to_string_lossy())
    }

    fn folder(&self) -> String {
        units::printable(&self.path.parent().unwrap_or(Path::new("")).display().to_string())
    }

    /// The text beside the name.
    fn note(&self) -> String {
        if self.is_missing { format!("{} · no longer there", self.folder()) } else { self.folder() }
    }
}

/// The menu beside the Open button.
pub(in crate::app) fn menu(ui: &mut egui::Ui, files: &[RecentFile<'_>], commands: &mut Vec<Command>) {
    if files.is_empty() {
        return;
    }
    let menu = ui.menu_button("Recent", |ui| {
        ui.set_min_width(MIN_MENU_PX);
        for file in files {
            let button = egui::Button::new(file.name())
                .right_text(theme::muted(ui, file.note()).size(11.0))
                .truncate();
            if ui
                .add_enabled(!file.is_missing, button)
                .on_hover_text(file.path.display().to_string())
                .clicked()
            {
                commands.push(Command::OpenFile(file.path.to_owned()));
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
pub(in crate::app) fn list(ui: &mut egui::Ui, files: &[RecentFile<'_>], commands: &mut Vec<Command>) {
    for file in files {
        ui.horizontal(|ui| {
            let left = ui.cursor().left();
            let name = ui.add_enabled(!file.is_missing, egui::Link::new(file.name()));
            if name.on_hover_text(file.path.display().to_string()).clicked() {
                commands.push(Command::OpenFile(file.path.to_owned()));
            }
            ui.add_space((left + NOTE_PX - ui.cursor().left()).max(0.0));
            ui.add(egui::Label::new(theme::muted(ui, file.note()).size(12.0)).truncate());
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_comes_first_each_file_once_and_ten_at_most() {
        let mut recent = RecentFiles::default();
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
        let mut recent = RecentFiles::default();
        recent.add(Path::new("/runs/a.pickle"));
        recent.add(Path::new(std::ffi::OsStr::from_bytes(b"/runs/\xff.pickle")));
        assert_eq!(recent.files(), [Path::new("/runs/a.pickle")]);
    }
}
