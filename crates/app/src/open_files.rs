//! The window's open files: tabs come and go, load, and are remembered.

use crate::App;
use crate::device::PaneId;
use crate::files::document::{Document, LoadProgress};
use crate::panes::OpenDevice;
use crate::rules::RuleChange;
use eframe::egui;
use oomscope_snapshot::load::Input;
use std::path::{Path, PathBuf};
use tr::tr;

impl App {
    pub(super) fn open(&mut self, input: Input, ctx: &egui::Context) {
        self.documents.push(Document::load(input, ctx));
        self.current = self.documents.len() - 1;
    }

    /// Open two files, unless they are open already, and compare the second one with the first as soon as both are there.
    pub(super) fn compare_files(&mut self, paths: [PathBuf; 2], ctx: &egui::Context) {
        for path in &paths {
            if self.place_of(path).is_none() {
                self.open(Input::File(path.clone()), ctx);
            }
        }
        self.current = self.place_of(&paths[1]).unwrap_or(self.current);
        self.to_compare = Some(paths);
    }

    /// The device that a tab shows, once its file is open.
    pub(super) fn device_of(&mut self, tab: usize) -> Option<&mut OpenDevice> {
        self.documents.get_mut(tab)?.open_file()?.device()
    }

    /// The tab of a file.
    fn place_of(&self, path: &Path) -> Option<usize> {
        self.documents.iter().position(|document| document.input().path() == Some(path))
    }

    /// Compare the files that are waited for, if both are open. Where one was closed or cannot be read, nobody waits for it.
    pub(super) fn compare_opened(&mut self) {
        let Some(paths) = &self.to_compare else { return };
        let tabs = [0, 1].map(|at| self.place_of(&paths[at]));
        let [Some(first), Some(second)] = tabs else { return self.to_compare = None };
        if [first, second].iter().any(|&at| self.documents[at].is_failed()) {
            return self.to_compare = None;
        }
        let other = self.device_of(first).map(|device| device.recording.clone());
        let Some((other, shown)) = other.zip(self.device_of(second)) else { return };
        shown.states.compare.choose(other);
        shown.wanted_pane = Some(PaneId::Compare);
        self.to_compare = None;
    }

    pub(super) fn reload(&mut self, at: usize, ctx: &egui::Context) {
        if let Some(document) = self.documents.get_mut(at) {
            document.load_again(ctx);
        }
    }

    /// Load the file of a tab with this much memory, in bytes.
    pub(super) fn allow_memory(&mut self, at: usize, bytes: u64, ctx: &egui::Context) {
        if let Some(document) = self.documents.get_mut(at) {
            document.allow_memory(bytes, ctx);
        }
    }

    /// Put the command that opens a tab's file as it is shown on the clipboard.
    pub(super) fn copy_link(&mut self, at: usize, ctx: &egui::Context) {
        let Some(document) = self.documents.get_mut(at) else { return };
        let said = match document.link() {
            Some(link) => {
                ctx.copy_text(link);
                tr!("Link copied: the command that opens this view")
            }
            None => tr!("There is no link to what is not an open file"),
        };
        self.notify(Some(said));
    }

    /// Change the rules of the file that is shown.
    pub(super) fn change_rule(&mut self, change: &RuleChange, ctx: &egui::Context) {
        let document = self.documents.get_mut(self.current);
        let said = document.and_then(|document| document.change_rule(change, ctx, &self.setup));
        self.notify(said);
    }

    /// Apply the rules of a file to the snapshot that is shown.
    pub(super) fn use_rules(&mut self, path: PathBuf, ctx: &egui::Context) {
        let document = self.documents.get_mut(self.current);
        let said = document.map(|document| document.use_rules(path, ctx, &self.setup));
        self.notify(said);
    }

    /// Show the tab that is `by` tabs further, around the ends.
    pub(super) fn show_tab(&mut self, by: isize) {
        if !self.documents.is_empty() {
            self.current = (self.current as isize + by).rem_euclid(self.documents.len() as isize) as usize;
        }
    }

    /// Follow the progress of loads. Tabs whose load was cancelled go.
    pub(super) fn poll_documents(&mut self, ctx: &egui::Context) {
        let mut at = 0;
        while let Some(document) = self.documents.get_mut(at) {
            match document.poll(ctx, &self.setup) {
                LoadProgress::NothingNew => at += 1,
                LoadProgress::Opened => {
                    document.input().path().into_iter().for_each(|path| self.glances.opened(path));
                    at += 1;
                }
                // The next tab has moved to this place.
                LoadProgress::Cancelled => {
                    let title = document.title().to_owned();
                    self.close(at);
                    self.notify(Some(tr!("Loading {title} was cancelled", title)));
                }
            }
        }
    }

    pub(super) fn close(&mut self, at: usize) {
        if at < self.documents.len() {
            self.documents.remove(at);
            // The same tab stays in front; if it was closed, its right neighbour, or else the last one.
            if at < self.current || self.current == self.documents.len() {
                self.current = self.current.saturating_sub(1);
            }
        }
    }

    pub(super) fn close_others(&mut self, at: usize) {
        if at < self.documents.len() {
            self.documents.truncate(at + 1);
            self.documents.drain(..at);
            self.current = 0;
        }
    }

    /// Name the file that is shown in the title of the window.
    pub(super) fn update_title(&mut self, ctx: &egui::Context) {
        let title = match self.documents.get(self.current) {
            Some(document) => format!("{} — oomscope", document.title()),
            None => "oomscope".to_owned(),
        };
        if self.title != title {
            ctx.send_viewport_cmd(egui::ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }

    /// Remember the verdicts of open files, so that lists need not look at them.
    pub(super) fn remember_verdicts(&mut self) {
        // Rules and capacities of the user make other verdicts than lists show.
        if !self.setup.rules.is_empty() || self.preferences.capacity.is_some() {
            return;
        }
        for document in &mut self.documents {
            if let Some((path, stamp, glance)) = document.new_glance() {
                self.glances.remember(&path, stamp, glance);
            }
        }
    }
}
