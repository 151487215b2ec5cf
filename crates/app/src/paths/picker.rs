//! A field for a path, with the entries of its folder below it.

use super::completion::{completed, matching, whole};
use super::field::Field;
use super::folder::{Entry, EntryKind, Listing, MAX_ENTRIES, ReadFolder};
use super::list::{EntryList, ROW_PX};
use super::places::{Places, Written, parent};
use crate::theme;
use crate::work::background::Background;
use crate::work::by_ptr::ByPtr;
use crate::work::memo::Memo;
use crate::work::worker::WorkMode;
use eframe::egui::{self, Response};
use oomscope_units as units;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tr::tr;

/// Room for the button beside the field, in points.
const BUTTON_PX: f32 = 64.0;

/// What is picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kinds {
    /// A file that is there, or a folder; the list shows snapshots.
    Snapshots,
    /// The name of a file to write, with this extension; the list shows such files.
    Target(&'static str),
}

/// A path in the making.
pub(crate) struct PathPicker {
    kinds: Kinds,
    places: Places,
    text: String,
    field: Field,
    reading: Background<ReadFolder>,
    /// The folder that is asked for.
    asked: Option<PathBuf>,
    found: Memo<(ByPtr<Listing>, String, bool), Arc<[usize]>>,
    chosen: Chosen,
    /// Files of every name are listed.
    shows_all: bool,
    /// Enter was pressed before the folder was read.
    enter_waits: bool,
    /// Why Enter did nothing.
    refusal: Option<String>,
}

/// The row that the user chose by keys.
#[derive(Debug, Default)]
struct Chosen {
    row: Option<usize>,
    /// It is to be scrolled into sight.
    reveals: bool,
}

/// A folder's contents, or why they are not known; `None` while they are read.
type Read = Option<Result<Arc<Listing>, String>>;

impl PathPicker {
    /// A picker with a text in its field, which takes the keyboard.
    pub(crate) fn new(kinds: Kinds, places: Places, text: String) -> Self {
        Self {
            kinds,
            places,
            text,
            field: Field { wants_focus: true, completes: false },
            reading: Background::default(),
            asked: None,
            found: Memo::default(),
            chosen: Chosen::default(),
            shows_all: false,
            enter_waits: false,
            refusal: None,
        }
    }

    /// The path that is written.
    pub(crate) fn path(&self) -> PathBuf {
        self.places.path(&self.text)
    }

    /// The text in the field.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Write another text, and let the user go on from its end.
    pub(crate) fn write(&mut self, text: String) {
        self.text = text;
        self.chosen = Chosen::default();
        self.refusal = None;
        self.field.wants_focus = true;
    }

    /// The folder that is written.
    pub(crate) fn folder(&self) -> PathBuf {
        self.places.split(&self.text).folder
    }

    /// Do in the next frame what Enter does.
    pub(crate) fn enter(&mut self, ctx: &egui::Context) {
        self.enter_waits = true;
        ctx.request_repaint();
    }

    /// Read the folder again: it has changed.
    pub(crate) fn refresh(&mut self) {
        self.asked = None;
    }

    /// The field and the list. Returns the file that was picked: by Enter or a click.
    pub(crate) fn ui(&mut self, ui: &mut egui::Ui, mode: WorkMode, list_px: f32) -> Option<PathBuf> {
        let Written { folder, leaf } = self.places.split(&self.text);
        let read = self.read(ui.ctx(), mode, &folder);
        let listing = read.as_ref().and_then(|read| read.as_ref().ok());
        let found = listing.map(|listing| self.found(listing, &leaf)).unwrap_or_default();
        let entries = listing.map_or(&[][..], |listing| &listing.entries);
        let id = ui.make_persistent_id("path");
        let keys = self.field.keys(ui, id);
        self.step(keys.rows, found.len(), &leaf);
        let completion = self.completion(entries, &found, &leaf);
        self.field.completes = completion.is_some();
        if self.field_ui(ui, id, &folder).changed() {
            (self.chosen, self.refusal, self.enter_waits) = (Chosen::default(), None, false);
        }
        let row = self.chosen.row.or_else(|| self.first(&found, &leaf));
        let reveals = std::mem::take(&mut self.chosen.reveals);
        let list = EntryList { entries, found: &found, chosen: row, reveals };
        let clicked = list.ui(ui, self.list_px(list_px, found.len()));
        self.status_ui(ui, &folder, read.as_ref(), &found);
        let entry = |row: usize| found.get(row).and_then(|&at| entries.get(at));
        if let Some(entry) = clicked.and_then(entry) {
            return self.take(entry);
        }
        if let Some(text) = completion.filter(|_| keys.tab) {
            self.replace_leaf(&leaf, &text);
        }
        self.enter_waits |= keys.enter;
        let read = read.as_ref().filter(|_| std::mem::take(&mut self.enter_waits))?;
        match row.and_then(entry) {
            Some(entry) => self.take(entry),
            None => self.take_written(&leaf, read.as_deref()),
        }
    }

    /// The height of the list: as high as it may be or, for a file to write, as its rows are. Mostly there is none then.
    fn list_px(&self, most_px: f32, rows: usize) -> f32 {
        match self.kinds {
            Kinds::Snapshots => most_px,
            Kinds::Target(_) => most_px.min(rows as f32 * ROW_PX),
        }
    }

    /// What the folder holds, once it is read. A folder that never answers does not keep others waiting.
    fn read(&mut self, ctx: &egui::Context, mode: WorkMode, folder: &PathBuf) -> Read {
        if self.asked.as_ref() != Some(folder) {
            self.asked = Some(folder.clone());
            self.reading = Background::default();
        }
        self.reading.ask(folder, ctx, mode, "folder", || ReadFolder).cloned()
    }

    fn found(&self, listing: &Arc<Listing>, leaf: &str) -> Arc<[usize]> {
        let (kinds, shows_all) = (self.kinds, self.shows_all);
        let is_wanted = |entry: &Entry| match (entry.kind, kinds) {
            (EntryKind::Folder, _) => true,
            _ if shows_all => true,
            (kind, Kinds::Snapshots) => kind == EntryKind::Snapshot,
            (_, Kinds::Target(extension)) => {
                entry.path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
            }
        };
        self.found.get((ByPtr(Arc::clone(listing)), leaf.to_owned(), shows_all), || {
            matching(&listing.entries, leaf, is_wanted).into()
        })
    }

    /// The row that Enter takes if no other was chosen: the best match of what is written. A name of a file to write is
    /// taken as it is.
    fn first(&self, found: &[usize], leaf: &str) -> Option<usize> {
        (self.kinds == Kinds::Snapshots && !leaf.is_empty() && !found.is_empty()).then_some(0)
    }

    /// The text that Tab puts in place of the last part.
    fn completion(&self, entries: &[Entry], found: &[usize], leaf: &str) -> Option<String> {
        let chosen = self.chosen.row.and_then(|row| entries.get(*found.get(row)?));
        let whole = chosen.filter(|entry| entry.is_exact).map(whole);
        whole.or_else(|| completed(entries, found, leaf)).filter(|text| text != leaf)
    }

    /// Choose another row, around the ends.
    fn step(&mut self, by: isize, rows: usize, leaf: &str) {
        if by == 0 || rows == 0 {
            return;
        }
        let rows = rows as isize;
        let next = match self.chosen.row.map(|row| row as isize) {
            Some(row) if by.abs() == 1 => (row + by).rem_euclid(rows),
            Some(row) => (row + by).clamp(0, rows - 1),
            // The first match stands out already.
            None if 0 < by && self.kinds == Kinds::Snapshots && !leaf.is_empty() => 1 % rows,
            None if 0 < by => 0,
            None => rows - 1,
        };
        self.chosen = Chosen { row: Some(next as usize), reveals: true };
    }

    /// Go into a folder, or pick a file.
    fn take(&mut self, entry: &Entry) -> Option<PathBuf> {
        self.chosen = Chosen::default();
        match (entry.kind, self.kinds) {
            (EntryKind::Folder, _) => {
                self.write(self.places.shown_folder(&entry.path));
                None
            }
            // Whoever picks a file to write wants to see its name first.
            (_, Kinds::Target(_)) if entry.path != self.path() => {
                self.write(self.places.shown(&entry.path));
                None
            }
            _ => Some(entry.path.clone()),
        }
    }

    /// Take what is written, which the list does not show.
    fn take_written(&mut self, leaf: &str, listing: Result<&Listing, &String>) -> Option<PathBuf> {
        if leaf.is_empty() {
            // A folder opens as the list of its snapshots.
            return listing.ok().filter(|_| self.kinds == Kinds::Snapshots).map(|_| self.folder());
        }
        let is_unseen = listing.map_or(true, |listing| listing.is_cut);
        if is_unseen || matches!(self.kinds, Kinds::Target(_)) {
            return Some(self.path());
        }
        self.refusal = Some(tr!("There is no {}", units::printable(&self.text)));
        None
    }

    fn replace_leaf(&mut self, leaf: &str, with: &str) {
        let stem = self.text.trim_end().strip_suffix(leaf).unwrap_or(&self.text);
        self.write(format!("{stem}{with}"));
    }

    /// The field, and a button that goes one folder up.
    fn field_ui(&mut self, ui: &mut egui::Ui, id: egui::Id, folder: &Path) -> Response {
        ui.horizontal(|ui| {
            let width_px = ui.available_width() - BUTTON_PX;
            let response = self.field.ui(ui, id, &mut self.text, width_px);
            let up = parent(folder);
            let button = ui
                .add_enabled(up.is_some(), egui::Button::new(tr!("Up")))
                .on_hover_text(tr!("The folder above"));
            if let Some(up) = up.filter(|_| button.clicked()) {
                self.write(self.places.shown_folder(&up));
            }
            response
        })
        .inner
    }

    /// Below the list: what is in the folder, or why nothing is.
    fn status_ui(
        &mut self,
        ui: &mut egui::Ui,
        folder: &Path,
        read: Option<&Result<Arc<Listing>, String>>,
        found: &[usize],
    ) {
        let place = || units::printable(&self.places.shown(folder));
        let text = match (read, &self.refusal) {
            (_, Some(refusal)) => refusal.clone(),
            (None, _) => tr!("Reading {} …", place()),
            (Some(Err(error)), _) => tr!("{} cannot be read: {error}", place(), error),
            (Some(Ok(listing)), _) if self.kinds == Kinds::Snapshots => summary(listing, found),
            (Some(Ok(listing)), _) => self.prospect(listing, &place()),
        };
        ui.horizontal(|ui| {
            if self.kinds == Kinds::Snapshots {
                let all = ui.checkbox(&mut self.shows_all, tr!("All files"));
                if all.on_hover_text(tr!("List files of every name")).changed() {
                    self.chosen = Chosen::default();
                }
            }
            ui.add(egui::Label::new(theme::muted(ui, text)).truncate());
        });
    }

    /// What writing to the path that is written would do.
    fn prospect(&self, listing: &Listing, place: &str) -> String {
        let leaf = self.places.split(&self.text).leaf;
        let is_it = |entry: &Entry| entry.name == leaf && entry.kind != EntryKind::Folder;
        if listing.entries.iter().any(is_it) {
            tr!("{} exists: you will be asked before it is replaced", units::printable(&leaf))
        } else {
            tr!("A new file in {place}", place)
        }
    }
}

/// The number of files and folders that are listed.
fn summary(listing: &Listing, found: &[usize]) -> String {
    let is_folder =
        |at: &&usize| listing.entries.get(**at).is_some_and(|entry| entry.kind == EntryKind::Folder);
    let folders = found.iter().filter(is_folder).count();
    let files = found.len() - folders;
    let files = tr!("{} file" | "{} files" % files, units::count(files as u64));
    let folders = tr!("{} folder" | "{} folders" % folders, units::count(folders as u64));
    if listing.is_cut {
        let cut = tr!("only {} entries of the folder are listed", units::count(MAX_ENTRIES as u64));
        format!("{files}, {folders} · {cut}")
    } else {
        format!("{files}, {folders}")
    }
}
