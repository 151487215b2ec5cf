//! The page of a folder: one row for each snapshot.

use super::order::FolderOrder;
use super::outlier_line;
use super::ranks::RanksView;
use crate::command::Command;
use crate::files::glances::{Glances, Look, Scan, canonical};
use crate::files::load_page::{self, Failure};
use crate::files::names;
use crate::files::snapshot_row::{self, ROW_PX, SnapshotRow};
use crate::texts::{self, marked};
use crate::theme;
use crate::work::background::Background;
use crate::work::setup::Setup;
use crate::work::worker::{Task, WorkMode};
use eframe::egui::{self, CentralPanel, ScrollArea};
use oomscope_snapshot::load::{FolderEntry, FolderListing, Input};
use oomscope_units as units;
use std::path::PathBuf;
use std::sync::Arc;
use tr::tr;

/// Folders inside this one that are offered: about two lines.
const MAX_FOLDERS: usize = 24;

/// A folder.
pub(crate) struct FolderPage {
    folder: PathBuf,
    listing: Background<ListTask>,
    /// Counts how often the folder was listed, so that it can be listed again.
    version: u32,
    mode: WorkMode,
    order: FolderOrder,
    /// True while the user does not want more files to be looked at.
    is_paused: bool,
    /// The files as ranks of a job, while the user wants to see them so.
    pub(crate) ranks: Option<RanksView>,
}

/// Lists a folder.
#[derive(Clone)]
struct ListTask(PathBuf);

impl Task for ListTask {
    type Request = u32;
    /// An error is its text.
    type Response = Result<Arc<FolderListing>, Arc<str>>;

    fn run(&self, _: &u32) -> Self::Response {
        FolderListing::of(&canonical(&self.0)).map(Arc::new).map_err(|error| error.to_string().into())
    }
}

impl FolderPage {
    pub(crate) fn new(folder: PathBuf, setup: &Setup) -> Self {
        Self {
            folder,
            listing: Background::default(),
            version: 0,
            mode: setup.mode,
            order: FolderOrder::default(),
            is_paused: false,
            ranks: None,
        }
    }

    /// List the folder again.
    pub(crate) fn list_again(&mut self) {
        self.version += 1;
        self.is_paused = false;
        self.ranks = self.ranks.take().map(|_| RanksView::default());
    }

    pub(crate) fn ui(
        &mut self,
        ui: &mut egui::Ui,
        title: &str,
        tab: usize,
        glances: &mut Glances,
        commands: &mut Vec<Command>,
    ) {
        let (ctx, mode) = (ui.ctx().clone(), self.mode);
        let task = || ListTask(self.folder.clone());
        let listing = match self.listing.ask(&self.version, &ctx, mode, "folder", task) {
            None => return load_page::page(ui, |ui| _ = ui.heading(tr!("Looking into {title}", title))),
            Some(Err(why)) => {
                let failure = Failure {
                    message: why.to_string(),
                    hint: tr!("check that the folder can be read").into(),
                    more_memory: None,
                };
                return load_page::failure_ui(ui, title, &failure, tab, commands);
            }
            Some(Ok(listing)) => Arc::clone(listing),
        };
        let mut rows = self.look(&listing, glances);
        self.order.sort(&mut rows);
        let frame = theme::panel_frame(ui, 16, 10);
        CentralPanel::default().frame(frame).show(ui, |ui| {
            self.head_ui(ui, &listing, &rows, tab, commands);
            ui.add_space(4.0);
            if self.ranks.is_none() && outlier_line::ui(ui, &rows) {
                self.ranks = Some(RanksView::default());
            }
            let Some(ranks) = &mut self.ranks else { return rows_ui(ui, &rows, glances, commands) };
            if !ranks.ui(ui, (&listing, self.version), self.mode, commands) {
                self.ranks = None;
            }
        });
    }

    /// The files with what is known of them. Small ones are asked for first.
    fn look(&self, listing: &FolderListing, glances: &mut Glances) -> Vec<(FolderEntry, Look)> {
        let mut files = listing.files.clone();
        files.sort_by_key(|file| file.stamp.bytes());
        let look = |file: FolderEntry| {
            let input = Input::File(file.path.clone());
            let look = match glances.known(&input, file.stamp) {
                Some(scan) => Look::Done(scan.clone()),
                // Ranks read all files anyway, and no more are to be in memory.
                None if self.is_paused || self.ranks.is_some() => Look::Waiting,
                None => glances.look(&input, Some(file.stamp)),
            };
            (file, look)
        };
        files.into_iter().map(look).collect()
    }

    fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        listing: &FolderListing,
        rows: &[(FolderEntry, Look)],
        tab: usize,
        commands: &mut Vec<Command>,
    ) {
        let path = std::path::absolute(&self.folder);
        let path = names::whole_path(path.as_deref().unwrap_or(&self.folder));
        ui.add(egui::Label::new(theme::strong(path, 15.0)).wrap());
        ui.horizontal_wrapped(|ui| {
            let is_list = self.ranks.is_none();
            if is_list {
                ui.label(theme::muted(ui, summary(listing, rows)));
            }
            let is_waiting = is_list && rows.iter().any(|(_, look)| *look == Look::Waiting);
            let name = if self.is_paused { tr!("Look at the others") } else { tr!("Stop") };
            if is_waiting && ui.small_button(name).clicked() {
                self.is_paused = !self.is_paused;
            }
            if ui.small_button(tr!("List again")).on_hover_text("F5").clicked() {
                commands.push(Command::Reload(tab));
            }
        });
        folders_ui(ui, listing, commands);
        if 1 < rows.len() {
            ui.horizontal_wrapped(|ui| {
                self.view_ui(ui);
                if self.ranks.is_some() {
                    return;
                }
                ui.add_space(8.0);
                ui.label(theme::muted(ui, tr!("Sort by")));
                for (order, name) in FolderOrder::ALL {
                    ui.selectable_value(&mut self.order, order, texts::translated(name));
                }
            });
        }
    }
}

impl FolderPage {
    /// The choice between a list of files and the ranks of a job.
    fn view_ui(&mut self, ui: &mut egui::Ui) {
        let is_list = self.ranks.is_none();
        if ui
            .selectable_label(is_list, tr!("List"))
            .on_hover_text(tr!("Each snapshot with its verdict"))
            .clicked()
        {
            self.ranks = None;
        }
        let hint =
            tr!("The snapshots as the ranks of one job: who is not like the others, and with which lines");
        if ui.selectable_label(!is_list, tr!("Ranks")).on_hover_text(hint).clicked() {
            self.ranks.get_or_insert_default();
        }
    }
}

/// The number of snapshots, and how many of them are still to be looked at.
fn summary(listing: &FolderListing, rows: &[(FolderEntry, Look)]) -> String {
    let count = |holds: fn(&Look) -> bool| rows.iter().filter(|(_, look)| holds(look)).count();
    let ooms = count(|look| matches!(look, Look::Done(Scan::Found(glance)) if glance.spark.has_oom()));
    let others = [
        (ooms, marked!("{} ran out of memory")),
        (count(|look| matches!(look, Look::Done(Scan::Failed(_)))), marked!("{} cannot be opened")),
        (count(|look| *look == Look::Waiting), marked!("{} not looked at yet")),
        (count(|look| *look == Look::Large), marked!("{} too large to be looked at unasked")),
    ];
    let mut text = match rows.len() {
        0 => {
            tr!("No snapshots here: their names end in .pickle, .pkl or .html, and may be compressed.")
        }
        all => tr!("{} snapshot" | "{} snapshots" % all, units::count(all as u64)),
    };
    for (count, what) in others.into_iter().filter(|(count, _)| 0 < *count) {
        text.extend([" · ", &tr!(what, units::count(count as u64))]);
    }
    if listing.is_cut { format!("{text} · {}", tr!("there are more than are listed")) } else { text }
}

fn folders_ui(ui: &mut egui::Ui, listing: &FolderListing, commands: &mut Vec<Command>) {
    if listing.folders.is_empty() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.label(theme::muted(ui, tr!("Folders")));
        for folder in listing.folders.iter().take(MAX_FOLDERS) {
            let name = names::file_name(folder);
            if ui.link(name).on_hover_text(names::whole_path(folder)).clicked() {
                commands.push(Command::OpenFile(folder.clone()));
            }
        }
        let others = listing.folders.len().saturating_sub(MAX_FOLDERS);
        if 0 < others {
            ui.label(theme::muted(ui, tr!("and {others} more", others)));
        }
    });
}

fn rows_ui(
    ui: &mut egui::Ui,
    rows: &[(FolderEntry, Look)],
    glances: &mut Glances,
    commands: &mut Vec<Command>,
) {
    ui.spacing_mut().item_spacing.y = 2.0;
    ScrollArea::vertical().auto_shrink(false).show_rows(ui, ROW_PX, rows.len(), |ui, shown| {
        for (file, look) in rows.get(shown).unwrap_or_default() {
            let (name, hint) = (names::file_name(&file.path), names::whole_path(&file.path));
            let row = SnapshotRow {
                name: &name,
                note: "",
                hint: &hint,
                until_known: None,
                look: look.clone(),
                version: Some(file.stamp),
                is_enabled: true,
            };
            let response = snapshot_row::ui(ui, &row);
            if response.clicked() {
                commands.push(Command::OpenFile(file.path.clone()));
            }
            if *look == Look::Large {
                response.context_menu(|ui| {
                    if ui.button(tr!("Look into it")).clicked() {
                        glances.want_large(Input::File(file.path.clone()), file.stamp);
                        ui.close();
                    }
                });
            }
        }
    });
}
