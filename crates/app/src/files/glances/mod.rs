//! What lists show of snapshots that are not open, and which files were opened last.

mod glance;
mod kept;
mod scanner;
mod store;

pub(crate) use glance::{Glance, Scan};

use crate::work::worker::WorkMode;
use eframe::egui;
use foldhash::{HashMap, HashMapExt as _};
pub(crate) use kept::canonical;
use kept::{Change, KeptFile, KeptFiles, MAX_RECENT, Seen};
use oomscope_model::Assumed;
use oomscope_snapshot::load::{FileStamp, Input, assumed};
use scanner::{Scanner, Subject};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use store::Store;

/// Files of this size are only looked at when the user wants it, in bytes: they take seconds, and their models GiB.
pub(crate) const LARGE_BYTES: u64 = 128 << 20;

/// The folder of what is remembered, within the settings folder.
const FOLDER: &str = "files";

/// Files that are asked for at a time: others follow when these are done.
const MAX_WANTED: usize = 64;

/// Glances at files: known ones, and those that threads take.
pub(crate) struct Glances {
    scanner: Scanner,
    store: Store,
    /// The recent files with the times at which they were opened last, the latest first.
    recent: Vec<(u64, PathBuf)>,
    /// The latest version of each file that was looked at.
    found: HashMap<Input, (Option<FileVersion>, Scan)>,
    /// The files that pages have asked for in this frame.
    wanted: Vec<Subject>,
    /// Large files that the user wants to be looked at.
    large: Vec<Subject>,
    /// True if files are looked at without being opened.
    pub(crate) may_scan: bool,
    /// What the user says about all recordings, as text; empty for nothing.
    assumed: String,
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
        let files = KeptFiles(folder.map(|folder| folder.join(FOLDER)));
        Self {
            scanner: Scanner::default(),
            store: Store::new(files, ctx, mode),
            recent: Vec::new(),
            found: HashMap::new(),
            wanted: Vec::new(),
            large: Vec::new(),
            may_scan: mode == WorkMode::Background,
            assumed: assumed_text(&assumed()),
        }
    }

    /// Take what was found, and look at what pages asked for. Called before a frame is drawn.
    pub(crate) fn update(&mut self, ctx: &egui::Context) {
        for file in self.store.news() {
            self.take(file);
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

    /// Take over what is stored of a file.
    fn take(&mut self, KeptFile { path, opened_us, seen }: KeptFile) {
        if let Some(opened_us) = opened_us {
            self.recent.retain(|(_, known)| *known != path);
            self.recent.push((opened_us, path.clone()));
            self.recent.sort_by_key(|(opened_us, _)| Reverse(*opened_us));
            self.recent.truncate(MAX_RECENT);
        }
        // Another word of the user may make another verdict.
        if let Some(Seen { bytes, modified_us, glance, .. }) =
            seen.filter(|seen| seen.assumed == self.assumed)
        {
            self.found.insert(Input::File(path), (Some((bytes, modified_us)), Scan::Found(Arc::new(glance))));
        }
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
        // Without a time, another version could look the same.
        if let Some((bytes, modified_us)) = version(stamp) {
            let seen = Seen { bytes, modified_us, glance, assumed: self.assumed.clone() };
            self.store.change(Change::Seen { path: path.to_owned(), seen });
        }
    }

    /// Remember that a file was opened.
    pub(crate) fn opened(&mut self, path: &Path) {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let at_us = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        self.store.change(Change::Opened { path: path.to_owned(), at_us });
    }

    /// Forget which files were opened.
    pub(crate) fn forget_recent(&mut self) {
        self.recent.clear();
        self.store.change(Change::ForgetRecent);
    }

    /// The recent files, the latest first.
    pub(crate) fn recent(&self) -> impl Iterator<Item = &Path> + Clone {
        self.recent.iter().map(|(_, path)| path.as_path())
    }
}

/// What verdicts depend on besides their files.
fn assumed_text(assumed: &Assumed) -> String {
    if *assumed == Assumed::default() { String::new() } else { format!("{assumed:?}") }
}

fn version(stamp: FileStamp) -> Option<FileVersion> {
    Some((stamp.bytes(), stamp.modified_us()?))
}
