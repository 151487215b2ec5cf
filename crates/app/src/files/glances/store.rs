//! Known files on the disk, shared by all windows, without ever waiting for the disk in the window's thread.
//!
//! A window writes no state of its own: it reads what is stored, applies its changes and writes the result. So two
//! windows do not overwrite each other, and nothing is lost when one is killed.

use super::known::{Change, KnownFiles};
use crate::work::worker::WorkMode;
use eframe::egui;
use oomscope_export::save::{Existing, NewFile, SaveError};
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The name of the file.
const FILE: &str = "known_files.json";

/// The name of the file that is locked while another one takes the place of [`FILE`].
const LOCK: &str = "known_files.lock";

/// Most bytes that are read: ten times what is ever written.
const MAX_BYTES: u64 = 4 << 20;

/// Attempts to get the lock, and the time between two. A file system without locks is not waited for.
const LOCK_ATTEMPTS: usize = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Known files, and the thread that keeps them.
pub(super) struct KnownStore {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Keeps them if there is no thread.
    here: Option<Keeper>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<StoreState>,
    has_news: Condvar,
}

#[derive(Default)]
struct StoreState {
    changes: Vec<Change>,
    /// The files after the last changes, until they are taken.
    latest: Option<KnownFiles>,
    is_closed: bool,
}

/// Reads, changes and writes the files.
struct Keeper {
    /// `None` if nothing is stored.
    folder: Option<PathBuf>,
    known: KnownFiles,
}

impl KnownStore {
    /// Files that are kept in a folder; without one, until the window is closed.
    pub(super) fn new(folder: Option<PathBuf>, ctx: &egui::Context, mode: WorkMode) -> Self {
        let shared = Arc::new(Shared::default());
        let mut keeper = Keeper { folder, known: KnownFiles::default() };
        if mode == WorkMode::Blocking {
            shared.lock().latest = Some(keeper.keep(Vec::new()));
            return Self { shared, thread: None, here: Some(keeper) };
        }
        let (kept, ctx) = (Arc::clone(&shared), ctx.clone());
        let thread = thread::Builder::new().name("oomscope-known".to_owned()).spawn(move || {
            let mut changes = Vec::new();
            loop {
                let latest = keeper.keep(changes);
                kept.lock().latest = Some(latest);
                ctx.request_repaint();
                match kept.wait() {
                    Some(next) => changes = next,
                    None => return,
                }
            }
        });
        let thread = thread.inspect_err(|error| log::warn!("recent files are not kept: {error}")).ok();
        Self { shared, thread, here: None }
    }

    /// Remember something. It is written at once.
    pub(super) fn change(&mut self, change: Change) {
        if let Some(keeper) = &mut self.here {
            let latest = keeper.keep(vec![change]);
            self.shared.lock().latest = Some(latest);
            return;
        }
        self.shared.lock().changes.push(change);
        self.shared.has_news.notify_one();
    }

    /// The files, if they have changed since the last call.
    pub(super) fn latest(&self) -> Option<KnownFiles> {
        self.shared.lock().latest.take()
    }
}

impl Drop for KnownStore {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.has_news.notify_one();
        // What is left to write is little.
        self.thread.take().into_iter().for_each(|thread| drop(thread.join()));
    }
}

impl Shared {
    /// The state, also after a panic: the thread leaves nothing half-written here.
    fn lock(&self) -> MutexGuard<'_, StoreState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next changes; `None` when there are no more and the window is closed.
    fn wait(&self) -> Option<Vec<Change>> {
        let idle = |state: &mut StoreState| state.changes.is_empty() && !state.is_closed;
        let mut state = self.has_news.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
        if state.changes.is_empty() { None } else { Some(std::mem::take(&mut state.changes)) }
    }
}

impl Keeper {
    /// Apply changes to what is stored now, which another window may have changed.
    fn keep(&mut self, changes: Vec<Change>) -> KnownFiles {
        let changes: Vec<Change> = changes.into_iter().map(spelled_in_one_way).collect();
        let is_changed = !changes.is_empty();
        let lock = self.folder.as_deref().filter(|_| is_changed).and_then(lock);
        if let Some(folder) = &self.folder {
            self.known = read(&folder.join(FILE)).unwrap_or_default();
        }
        for change in changes {
            self.known.apply(change);
        }
        if is_changed && let Some(folder) = &self.folder {
            let written = write(folder, &self.known);
            written.inspect_err(|error| log::warn!("recent files are not kept: {error}")).ok();
        }
        drop(lock);
        self.known.clone()
    }
}

/// A change whose path is the file's own, whatever name it was opened by.
fn spelled_in_one_way(change: Change) -> Change {
    match change {
        Change::Opened { path, at_us } => Change::Opened { path: canonical(&path), at_us },
        Change::Seen { path, stamp, glance } => Change::Seen { path: canonical(&path), stamp, glance },
        Change::Import(paths) => Change::Import(paths.iter().map(|path| canonical(path)).collect()),
        Change::ForgetRecent => Change::ForgetRecent,
    }
}

/// The path without links and dots. Windows has a spelling for it that nobody wants to read.
pub(crate) fn canonical(path: &Path) -> PathBuf {
    let found = if cfg!(windows) { None } else { fs::canonicalize(path).ok() };
    found.or_else(|| std::path::absolute(path).ok()).unwrap_or_else(|| path.to_owned())
}

/// Keep other windows from writing; `None` if that cannot be had.
fn lock(folder: &Path) -> Option<File> {
    fs::create_dir_all(folder).ok()?;
    let file = File::options().create(true).append(true).open(folder.join(LOCK)).ok()?;
    for _ in 0..LOCK_ATTEMPTS {
        if file.try_lock().is_ok() {
            return Some(file);
        }
        thread::sleep(LOCK_PAUSE);
    }
    None
}

fn read(path: &Path) -> Option<KnownFiles> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let known = serde_json::from_slice::<KnownFiles>(&bytes);
    known.inspect_err(|error| log::warn!("{}: {error}", path.display())).ok().map(KnownFiles::sound)
}

fn write(folder: &Path, known: &KnownFiles) -> Result<(), SaveError> {
    let path = folder.join(FILE);
    let refused = |source| SaveError::Refused { path: path.clone(), source };
    let text = serde_json::to_vec(known).map_err(|error| refused(error.into()))?;
    let mut file = NewFile::create(&path)?;
    file.write_all(&text).map_err(refused)?;
    file.finish(Existing::Replace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(folder: &Path, mode: WorkMode) -> KnownStore {
        KnownStore::new(Some(folder.to_owned()), &egui::Context::default(), mode)
    }

    fn recent(store: &KnownStore) -> Vec<PathBuf> {
        store.latest().expect("there is news").recent()
    }

    fn opened(path: impl Into<PathBuf>, at_us: u64) -> Change {
        Change::Opened { path: path.into(), at_us }
    }

    #[test]
    fn two_windows_do_not_overwrite_each_other() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut one = store(folder.path(), WorkMode::Blocking);
        let mut other = store(folder.path(), WorkMode::Blocking);
        one.change(opened("/runs/a.pickle", 1));
        other.change(opened("/runs/b.pickle", 2));
        one.change(opened("/runs/c.pickle", 3));
        let all = ["/runs/c.pickle", "/runs/b.pickle", "/runs/a.pickle"].map(PathBuf::from);
        assert_eq!(recent(&one), all);
        // Nothing else has to happen before a window is killed.
        assert_eq!(recent(&store(folder.path(), WorkMode::Blocking)), all);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_spelled_in_three_ways_is_one() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = fs::canonicalize(folder.path()).expect("it is there");
        let path = place.join("run.pickle");
        fs::create_dir(place.join("sub")).expect("a temporary folder");
        fs::write(&path, b"x").expect("a temporary file");
        std::os::unix::fs::symlink(&path, place.join("link.pickle")).expect("a link");
        let mut store = store(&place.join("settings"), WorkMode::Blocking);
        for (at, name) in ["run.pickle", "sub/../run.pickle", "link.pickle"].iter().enumerate() {
            store.change(opened(place.join(name), at as u64));
        }
        assert_eq!(recent(&store), [path]);
    }

    #[test]
    fn a_thread_has_written_everything_when_the_window_is_closed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut first = store(folder.path(), WorkMode::Background);
        (0..5).for_each(|at| first.change(opened(format!("/runs/{at}.pickle"), at)));
        drop(first);
        assert_eq!(recent(&store(folder.path(), WorkMode::Blocking)).len(), 5);
    }

    #[test]
    fn a_file_that_is_none_of_ours_is_replaced() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join(FILE), b"{\"odd\": 1}").expect("a temporary file");
        let mut store = store(folder.path(), WorkMode::Blocking);
        assert!(recent(&store).is_empty());
        store.change(opened("/runs/a.pickle", 1));
        assert_eq!(recent(&store), [Path::new("/runs/a.pickle")]);
    }
}
