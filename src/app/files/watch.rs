//! Notices when files change on the disk, without ever waiting for the disk in the window's thread.

use crate::load::FileStamp;
use eframe::egui;
use foldhash::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How often files are looked at.
const PERIOD: Duration = Duration::from_secs(1);

/// What was seen of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum OnDisk {
    /// It was not looked at yet.
    Unknown,
    /// There is no such file.
    Missing,
    /// This version.
    There(FileStamp),
}

/// Looks at some files about once a second while the window has the focus.
pub(in crate::app) struct FileWatch {
    post: Arc<Post>,
}

/// What the window and the thread share.
#[derive(Default)]
struct Post {
    notes: Mutex<Notes>,
    has_news: Condvar,
}

#[derive(Default)]
struct Notes {
    /// What to look at.
    paths: Vec<PathBuf>,
    /// Whether the window has the focus.
    is_awake: bool,
    is_closed: bool,
    /// What was seen last; `None` where there is no file.
    seen: HashMap<PathBuf, Option<FileStamp>>,
}

impl FileWatch {
    pub(in crate::app) fn new(ctx: &egui::Context) -> Self {
        let post = Arc::new(Post::default());
        let (watched, ctx) = (Arc::clone(&post), ctx.clone());
        let thread = thread::Builder::new().name("oomscope-files".to_owned()).spawn(move || {
            while let Some(paths) = watched.wait() {
                let seen = paths.into_iter().map(|path| (FileStamp::of(&path), path));
                let seen: HashMap<_, _> = seen.map(|(stamp, path)| (path, stamp)).collect();
                let mut notes = watched.lock();
                if notes.seen != seen {
                    notes.seen = seen;
                    ctx.request_repaint();
                }
            }
        });
        thread.inspect_err(|error| log::warn!("changes of files are not noticed: {error}")).ok();
        Self { post }
    }

    /// Say what to look at from now on, and whether the window has the focus.
    pub(in crate::app) fn watch<'a>(&self, paths: impl Iterator<Item = &'a Path> + Clone, is_awake: bool) {
        let mut notes = self.post.lock();
        let is_new = !notes.paths.iter().map(PathBuf::as_path).eq(paths.clone());
        if is_new {
            notes.paths = paths.map(Path::to_owned).collect();
        }
        if is_new || notes.is_awake != is_awake {
            notes.is_awake = is_awake;
            self.post.has_news.notify_one();
        }
    }

    /// The file as it was seen last.
    pub(in crate::app) fn seen(&self, path: &Path) -> OnDisk {
        match self.post.lock().seen.get(path) {
            None => OnDisk::Unknown,
            Some(None) => OnDisk::Missing,
            Some(Some(stamp)) => OnDisk::There(*stamp),
        }
    }
}

impl Drop for FileWatch {
    fn drop(&mut self) {
        self.post.lock().is_closed = true;
        self.post.has_news.notify_one();
    }
}

impl Post {
    /// A thread that panicked leaves nothing half-written here.
    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What to look at next; `None` when the window is closed. New paths are looked at at once, even
    /// without the focus.
    fn wait(&self) -> Option<Vec<PathBuf>> {
        let is_known = |notes: &Notes| notes.paths.iter().all(|path| notes.seen.contains_key(path));
        let nothing_new = |notes: &mut Notes| !notes.is_closed && is_known(notes);
        let mut notes = self.lock();
        let mut was_awake = notes.is_awake;
        loop {
            let (next, timeout) = self
                .has_news
                .wait_timeout_while(notes, PERIOD, |notes| nothing_new(notes) && notes.is_awake == was_awake)
                .unwrap_or_else(PoisonError::into_inner);
            notes = next;
            let has_come_back = notes.is_awake && !was_awake;
            was_awake = notes.is_awake;
            if notes.is_closed {
                return None;
            }
            if !is_known(&notes) || has_come_back || (was_awake && timeout.timed_out()) {
                return Some(notes.paths.clone());
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
