//! What lists show of snapshots that are not open, and which files were opened last.

mod glance;
mod known;
mod scanner;
mod store;

pub(crate) use glance::{Glance, Scan};

use crate::work::worker::WorkMode;
use eframe::egui;
use foldhash::{HashMap, HashMapExt as _};
use known::{Change, version};
use oomscope_snapshot::load::{FileStamp, Input};
use scanner::{Scanner, Subject};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use store::KnownStore;
pub(crate) use store::canonical;

/// Files of this size are only looked at when the user wants it, in bytes: they take seconds, and their models GiB.
pub(crate) const LARGE_BYTES: u64 = 128 << 20;

/// Files that are asked for at a time: others follow when these are done.
const MAX_WANTED: usize = 64;

/// Glances at files: known ones, and those that threads take.
pub(crate) struct Glances {
    scanner: Scanner,
    store: KnownStore,
    /// The recent files, the latest first.
    recent: Vec<PathBuf>,
    /// The latest version of each file that was looked at.
    found: HashMap<Input, (Option<FileVersion>, Scan)>,
    /// The files that pages have asked for in this frame.
    wanted: Vec<Subject>,
    /// Large files that the user wants to be looked at.
    large: Vec<Subject>,
    /// True if files are looked at without being opened.
    pub(crate) may_scan: bool,
}

/// The parts of a stamp that can be stored.
type FileVersion = (u64, i64);

/// What a list can show of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Look {
    Done(Scan),
    /// It will be looked at.
    Waiting,
    /// It is large, and waits for the user.
    Large,
}

impl Glances {
    /// Files are remembered in a folder; without one, until the window is closed.
    pub(crate) fn new(folder: Option<PathBuf>, ctx: &egui::Context, mode: WorkMode) -> Self {
        Self {
            scanner: Scanner::default(),
            store: KnownStore::new(folder, ctx, mode),
            recent: Vec::new(),
            found: HashMap::new(),
            wanted: Vec::new(),
            large: Vec::new(),
            may_scan: mode == WorkMode::Background,
        }
    }

    /// Take what was found, and look at what pages asked for. Called before a frame is drawn.
    pub(crate) fn update(&mut self, ctx: &egui::Context) {
        if let Some(known) = self.store.latest() {
            self.recent = known.recent();
            for (path, seen, glance) in known.seen() {
                let input = Input::File(path.to_owned());
                if self.found.get(&input).is_none_or(|(known, _)| *known != Some(seen)) {
                    self.found.insert(input, (Some(seen), Scan::Found(Arc::new(glance.clone()))));
                }
            }
        }
        for (subject, scan) in self.scanner.finished() {
            if let (Input::File(path), Some(stamp), Scan::Found(glance)) =
                (&subject.input, subject.stamp, &scan)
            {
                self.remember(path, stamp, glance.as_ref().clone());
            }
            self.large.retain(|large| *large != subject);
            self.found.insert(subject.input, (subject.stamp.and_then(version), scan));
        }
        let mut wanted = std::mem::take(&mut self.wanted);
        wanted.retain(|subject| !self.is_known(subject));
        self.scanner.look_at(wanted, ctx);
    }

    /// What is known of a file, and if it is nothing, ask for it. To be asked in every frame.
    pub(crate) fn look(&mut self, input: &Input, stamp: Option<FileStamp>) -> Look {
        let bundled = matches!(input, Input::Bundled { .. });
        let subject = Subject { input: input.clone(), stamp };
        if let Some((_, scan)) = self.found.get(input)
            && self.is_known(&subject)
        {
            return Look::Done(scan.clone());
        }
        let is_large = stamp.is_some_and(|stamp| LARGE_BYTES <= stamp.bytes());
        if is_large && !self.large.contains(&subject) {
            return Look::Large;
        }
        if self.may_scan && (bundled || stamp.is_some()) {
            // A page is drawn twice where its first try did not fit.
            if self.wanted.len() < MAX_WANTED && !self.wanted.contains(&subject) {
                self.wanted.push(subject);
            }
        }
        Look::Waiting
    }

    /// True if this version of the file was looked at.
    fn is_known(&self, subject: &Subject) -> bool {
        let found = self.found.get(&subject.input);
        found.is_some_and(|(known, _)| *known == subject.stamp.and_then(version))
    }

    /// What is known of a file, without asking for more.
    pub(crate) fn known(&self, input: &Input, stamp: FileStamp) -> Option<&Scan> {
        self.found.get(input).filter(|(known, _)| *known == version(stamp)).map(|(_, scan)| scan)
    }

    /// Look at a large file, too.
    pub(crate) fn want_large(&mut self, input: Input, stamp: FileStamp) {
        self.large.push(Subject { input, stamp: Some(stamp) });
    }

    /// Remember a glance.
    pub(crate) fn remember(&mut self, path: &Path, stamp: FileStamp, glance: Glance) {
        self.store.change(Change::Seen { path: path.to_owned(), stamp, glance });
    }

    /// Remember that a file was opened.
    pub(crate) fn opened(&mut self, path: &Path) {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let at_us = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        self.store.change(Change::Opened { path: path.to_owned(), at_us });
    }

    /// Take over recent files of an earlier version of the program, the latest first.
    pub(crate) fn import(&mut self, recent: Vec<PathBuf>) {
        self.store.change(Change::Import(recent));
    }

    /// Forget which files were opened.
    pub(crate) fn forget_recent(&mut self) {
        self.store.change(Change::ForgetRecent);
    }

    /// The recent files, the latest first.
    pub(crate) fn recent(&self) -> &[PathBuf] {
        &self.recent
    }
}
