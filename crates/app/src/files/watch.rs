//! Notices when files change on the disk, without ever waiting for the disk in the window's thread.
//!
//! It looks at files again and again, because the system's notifications are silent on network file
//! systems, where recordings of a cluster are.

use eframe::egui;
use foldhash::HashMap;
use oomscope_snapshot::load::FileStamp;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Time between two looks at the files: soon enough for the user, and cheap on slow disks.
const PERIOD: Duration = Duration::from_secs(1);

/// A file on the disk, as it was seen last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnDisk {
    /// It was not looked at yet.
    Unknown,
    /// There is no such file.
    Missing,
    /// This version.
    There(FileStamp),
}

/// Looks at some files about once a second while the window has the focus.
pub(crate) struct FileWatch {
    shared: Arc<Shared>,
}

/// Shared by the window and the thread.
#[derive(Default)]
struct Shared {
    state: Mutex<WatchState>,
    has_news: Condvar,
}

#[derive(Default)]
struct WatchState {
    /// The files to look at.
    paths: Vec<PathBuf>,
    /// True while the window has the focus.
    is_awake: bool,
    is_closed: bool,
    /// The files as they were seen last; `None` for one that does not exist.
    seen: HashMap<PathBuf, Option<FileStamp>>,
}

impl FileWatch {
    pub(crate) fn new(ctx: &egui::Context) -> Self {
        let shared = Arc::new(Shared::default());
        let (watched, ctx) = (Arc::clone(&shared), ctx.clone());
        let thread = thread::Builder::new().name("oomscope-files".to_owned()).spawn(move || {
            while let Some(paths) = watched.wait() {
                let seen = paths.into_iter().map(|path| (FileStamp::of(&path), path));
                let seen: HashMap<_, _> = seen.map(|(stamp, path)| (path, stamp)).collect();
                let mut state = watched.lock();
                if state.seen != seen {
                    state.seen = seen;
                    ctx.request_repaint();
                }
            }
        });
        thread.inspect_err(|error| log::warn!("changes of files are not noticed: {error}")).ok();
        Self { shared }
    }

    /// Look at other files from now on; `is_awake` is true while the window has the focus.
    pub(crate) fn watch<'a>(&self, paths: impl Iterator<Item = &'a Path> + Clone, is_awake: bool) {
        let mut state = self.shared.lock();
        let is_new = !state.paths.iter().map(PathBuf::as_path).eq(paths.clone());
        if is_new {
            state.paths = paths.map(Path::to_owned).collect();
        }
        if is_new || state.is_awake != is_awake {
            state.is_awake = is_awake;
            self.shared.has_news.notify_one();
        }
    }

    /// The file as it was seen last.
    pub(crate) fn seen(&self, path: &Path) -> OnDisk {
        match self.shared.lock().seen.get(path) {
            None => OnDisk::Unknown,
            Some(None) => OnDisk::Missing,
            Some(Some(stamp)) => OnDisk::There(*stamp),
        }
    }
}

impl Drop for FileWatch {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.has_news.notify_one();
    }
}

impl Shared {
    /// The state, also after a panic: the thread leaves nothing half-written here.
    fn lock(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files to look at next; `None` when the window is closed. New files come at once, even without
    /// the focus; the others a second later, or when the focus comes back.
    fn wait(&self) -> Option<Vec<PathBuf>> {
        let is_known = |state: &WatchState| state.paths.iter().all(|path| state.seen.contains_key(path));
        let nothing_new = |state: &mut WatchState| !state.is_closed && is_known(state);
        let mut state = self.lock();
        let mut was_awake = state.is_awake;
        loop {
            let (next, timeout) = self
                .has_news
                .wait_timeout_while(state, PERIOD, |state| nothing_new(state) && state.is_awake == was_awake)
                .unwrap_or_else(PoisonError::into_inner);
            state = next;
            let has_come_back = state.is_awake && !was_awake;
            was_awake = state.is_awake;
            if state.is_closed {
                return None;
            }
            if !is_known(&state) || has_come_back || (was_awake && timeout.timed_out()) {
                return Some(state.paths.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn comes(watch: &FileWatch, path: &Path, expected: OnDisk) -> bool {
        let patience = Instant::now() + Duration::from_secs(20);
        while watch.seen(path) != expected && Instant::now() < patience {
            thread::sleep(Duration::from_millis(5));
        }
        watch.seen(path) == expected
    }

    #[test]
    fn changes_are_noticed_while_the_window_has_the_focus() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("run.pickle");
        let there = || FileStamp::of(&path).map_or(OnDisk::Missing, OnDisk::There);
        let watch = FileWatch::new(&egui::Context::default());
        assert_eq!(watch.seen(&path), OnDisk::Unknown);
        watch.watch(std::iter::once(path.as_path()), false);
        assert!(comes(&watch, &path, OnDisk::Missing), "new files are looked at at once");
        std::fs::write(&path, b"one").expect("a temporary file");
        watch.watch(std::iter::once(path.as_path()), true);
        assert!(comes(&watch, &path, there()), "the focus came back");
        std::fs::write(&path, b"longer").expect("a temporary file");
        assert!(comes(&watch, &path, there()), "a second later");
    }
}
