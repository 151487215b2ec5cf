//! Threads that look at the files of lists, a few at a time.
//!
//! A page names the files that it shows in every frame. What no page names any more is not begun, and is stopped
//! where it was. Of a file, only its glance is kept.

use super::glance::{Scan, scan};
use eframe::egui;
use oomscope_snapshot::load::{FileStamp, Input, Progress};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Files that are looked at together: their models are in memory meanwhile, and each load has two threads of its own.
const THREADS: usize = 2;

/// A version of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) input: Input,
    pub(super) stamp: Option<FileStamp>,
}

/// Looks at files in the background.
#[derive(Default)]
pub(super) struct Scanner {
    shared: Arc<Shared>,
    has_threads: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<ScanState>,
    has_news: Condvar,
}

#[derive(Default)]
struct ScanState {
    /// The next one is the last.
    queue: Vec<Subject>,
    running: Vec<(Subject, Progress)>,
    finished: Vec<(Subject, Scan)>,
    is_closed: bool,
}

impl Scanner {
    /// Look at these files, and at no others: small ones first, so that a list fills soon.
    pub(super) fn look_at(&mut self, mut wanted: Vec<Subject>, ctx: &egui::Context) {
        if !self.has_threads && !wanted.is_empty() {
            self.has_threads = true;
            (0..THREADS).for_each(|_| self.start_thread(ctx));
        }
        wanted.sort_by_key(|subject| std::cmp::Reverse(subject.stamp.map_or(0, |stamp| stamp.bytes())));
        let mut state = self.shared.lock();
        for (subject, progress) in &state.running {
            if wanted.contains(subject) {
                wanted.retain(|other| other != subject);
            } else {
                progress.cancel();
            }
        }
        if state.queue != wanted {
            state.queue = wanted;
            self.shared.has_news.notify_all();
        }
    }

    /// The files that were looked at since the last call.
    pub(super) fn finished(&self) -> Vec<(Subject, Scan)> {
        std::mem::take(&mut self.shared.lock().finished)
    }

    fn start_thread(&self, ctx: &egui::Context) {
        let (shared, ctx) = (Arc::clone(&self.shared), ctx.clone());
        let thread = thread::Builder::new().name("oomscope-glance".to_owned()).spawn(move || {
            while let Some((subject, progress)) = shared.next() {
                let found = scan(&subject.input, &progress);
                shared.finish(&subject, found);
                ctx.request_repaint();
            }
        });
        thread.inspect_err(|error| log::warn!("lists show no verdicts: {error}")).ok();
    }
}

impl Drop for Scanner {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_closed = true;
        state.running.iter().for_each(|(_, progress)| progress.cancel());
        self.shared.has_news.notify_all();
    }
}

impl Shared {
    /// The state, also after a panic: a thread leaves nothing half-written here.
    fn lock(&self) -> MutexGuard<'_, ScanState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next file; `None` when the window no longer needs anything.
    fn next(&self) -> Option<(Subject, Progress)> {
        let idle = |state: &mut ScanState| state.queue.is_empty() && !state.is_closed;
        let mut state = self.has_news.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
        if state.is_closed {
            return None;
        }
        let next = (state.queue.pop()?, Progress::default());
        state.running.push(next.clone());
        Some(next)
    }

    fn finish(&self, subject: &Subject, found: Option<Scan>) {
        let mut state = self.lock();
        state.running.retain(|(running, _)| running != subject);
        state.finished.extend(found.map(|found| (subject.clone(), found)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::sample;
    use std::time::{Duration, Instant};

    fn subject(name: &str) -> Subject {
        let path = sample(name);
        Subject { stamp: FileStamp::of(&path), input: Input::File(path) }
    }

    fn wait(mut holds: impl FnMut() -> bool) -> bool {
        let patience = Instant::now() + Duration::from_mins(1);
        while Instant::now() < patience {
            if holds() {
                return true;
            }
            thread::sleep(Duration::from_millis(5));
        }
        false
    }

    #[test]
    fn every_file_is_looked_at_once() {
        let mut scanner = Scanner::default();
        let ctx = egui::Context::default();
        let mut wanted = ["compact.pickle.gz", "pools.pickle", "README.md"].map(subject).to_vec();
        let mut found = Vec::new();
        assert!(wait(|| {
            let finished = scanner.finished();
            wanted.retain(|subject| !finished.iter().any(|(other, _)| other == subject));
            found.extend(finished);
            scanner.look_at(wanted.clone(), &ctx);
            found.len() == 3
        }));
        let failed = found.iter().filter(|(_, scan)| matches!(scan, Scan::Failed(_))).count();
        assert_eq!(failed, 1, "{found:?}");
        assert!(scanner.finished().is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_longer_wanted_is_stopped() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("cut.pickle");
        std::fs::write(&path, b"").expect("a temporary file");
        let mut scanner = Scanner::default();
        let ctx = egui::Context::default();
        scanner.look_at(vec![subject("leak_eval_losses.pickle")], &ctx);
        assert!(wait(|| !scanner.shared.lock().running.is_empty() || !scanner.finished().is_empty()));
        scanner.look_at(Vec::new(), &ctx);
        assert!(wait(|| scanner.shared.lock().running.is_empty()));
        assert!(scanner.shared.lock().queue.is_empty());
    }
}
