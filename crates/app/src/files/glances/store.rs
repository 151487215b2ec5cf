//! Keeps files on a thread of its own: the window's never waits for the disk.

use super::kept::{Change, KeptFile, KeptFiles};
use crate::work::worker::WorkMode;
use eframe::egui;
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// Changes that wait for the disk, at most: as many as a large folder of ranks brings. Others are forgotten.
const MAX_WAITING: usize = 1000;

/// Takes changes, and tells what is known of files.
pub(super) struct Store {
    known: Known,
    /// `None` once the window is closed, and where there is no thread.
    changes: Option<SyncSender<Change>>,
    thread: Option<JoinHandle<()>>,
    /// Keeps them if there is no thread.
    here: Option<KeptFiles>,
}

/// What is known since the last look.
type Known = Arc<Mutex<Vec<KeptFile>>>;

fn tell(known: &Known, file: impl IntoIterator<Item = KeptFile>) {
    known.lock().unwrap_or_else(PoisonError::into_inner).extend(file);
}

impl Store {
    pub(super) fn new(files: KeptFiles, ctx: &egui::Context, mode: WorkMode) -> Self {
        let known = Known::default();
        if mode == WorkMode::Blocking {
            tell(&known, files.all());
            return Self { known, changes: None, thread: None, here: Some(files) };
        }
        let (changes, asked) = mpsc::sync_channel(MAX_WAITING);
        let (news, ctx) = (Arc::clone(&known), ctx.clone());
        let thread = thread::Builder::new().name("oomscope-files".to_owned()).spawn(move || {
            tell(&news, files.all());
            ctx.request_repaint();
            for change in asked {
                tell(&news, files.keep(change));
                ctx.request_repaint();
            }
        });
        let thread = thread.inspect_err(|error| log::warn!("recent files are not kept: {error}")).ok();
        Self { known, changes: Some(changes), thread, here: None }
    }

    /// Remember something.
    pub(super) fn change(&self, change: Change) {
        if let Some(files) = &self.here {
            tell(&self.known, files.keep(change));
        } else if self.changes.as_ref().is_none_or(|changes| changes.try_send(change).is_err()) {
            log::warn!("a recent file is not kept: the disk does not follow");
        }
    }

    /// What is known since the last look.
    pub(super) fn news(&self) -> Vec<KeptFile> {
        std::mem::take(&mut *self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.changes = None;
        // What is left to write is little.
        self.thread.take().into_iter().for_each(|thread| drop(thread.join()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_written_when_the_window_is_closed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let files = KeptFiles(Some(folder.path().to_owned()));
        let store = Store::new(files.clone(), &egui::Context::default(), WorkMode::Background);
        for at_us in 0..5 {
            store.change(Change::Opened { path: format!("/runs/{at_us}.pickle").into(), at_us });
        }
        drop(store);
        let next = Store::new(files, &egui::Context::default(), WorkMode::Blocking);
        assert_eq!(next.news().len(), 5);
    }
}
