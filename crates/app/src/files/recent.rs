//! The files that were opened last, in the menu of the top line.

use super::glances::Glances;
use super::names;
use super::watch::{FileWatch, OnDisk};
use crate::command::Command;
use crate::{menus, theme};
use eframe::egui;
use oomscope_snapshot::load::FileStamp;
use std::path::{Path, PathBuf};
use tr::tr;

/// Smallest width of the menu, in points: room for a name and some of its folder.
const MIN_MENU_PX: f32 = 320.0;

/// One file, as lists show it.
pub(crate) struct RecentFile {
    pub(super) path: PathBuf,
    /// Its version; `None` while it is not known.
    pub(super) stamp: Option<FileStamp>,
    /// There is no such file any more.
    pub(super) is_missing: bool,
}

/// The files for a list, with what the watch has seen of them.
pub(crate) fn files(glances: &Glances, watch: &FileWatch) -> Vec<RecentFile> {
    let file = |path: &Path| {
        let seen = watch.seen(path);
        let stamp = if let OnDisk::There(stamp) = seen { Some(stamp) } else { None };
        RecentFile { path: path.to_owned(), stamp, is_missing: seen == OnDisk::Missing }
    };
    glances.recent().map(file).collect()
}

impl RecentFile {
    /// The file's path, if it is there.
    pub(crate) fn openable(self) -> Option<PathBuf> {
        (!self.is_missing).then_some(self.path)
    }

    /// The text beside the name.
    fn note(&self) -> String {
        let folder = names::folder_of(&self.path);
        if self.is_missing { format!("{folder} · {}", tr!("no longer there")) } else { folder }
    }
}

/// The menu beside the Open button.
pub(crate) fn menu(ui: &mut egui::Ui, files: &[RecentFile], commands: &mut Vec<Command>) {
    if files.is_empty() {
        return;
    }
    let menu = ui.menu_button(tr!("Recent"), |ui| {
        ui.set_min_width(MIN_MENU_PX);
        for file in files {
            let button = egui::Button::new(names::file_name(&file.path))
                .right_text(theme::muted(ui, file.note()).size(11.0))
                .truncate();
            let button = ui.add_enabled(!file.is_missing, button);
            if button.on_hover_text(names::whole_path(&file.path)).clicked() {
                commands.push(Command::OpenFile(file.path.clone()));
                ui.close();
            }
        }
        ui.separator();
        if ui.button(tr!("Clear this list")).clicked() {
            commands.push(Command::ForgetRecent);
            ui.close();
        }
    });
    menus::in_line(&menu.response, false);
    menu.response.on_hover_text(tr!("Files that were opened last"));
}
