//! Threads that look at the files of lists, a few at a time.
//!
//! A page names the files that it shows in every frame. What no page names any more is not begun, and is stopped
//! where it was. Of a file, only its glance is kept.

use super::glance::{Scan, scan};
use eframe::egui;
use oomscope_snapshot::load::{FileStamp, Input, Progress};
use std::sync::mpsc::{self, Receiver, TryRecvError};
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
    running: Vec<Running>,
}

/// A file that a thread looks at.
struct Running {
    subject: Subject,
    progress: Progress,
    /// The outcome; none comes if it was told to stop.
    outcome: Receiver<Option<Scan>>,
}

impl Scanner {
    /// Look at these files, and at no others: small ones first, so that a list fills soon.
    pub(super) fn look_at(&mut self, mut wanted: Vec<Subject>, ctx: &egui::Context) {
        for running in &self.running {
            if wanted.contains(&running.subject) {
                wanted.retain(|other| *other != running.subject);
            } else {
                running.progress.cancel();
            }
        }
        wanted.sort_by_key(|subject| subject.stamp.map_or(0, |stamp| stamp.bytes()));
        let free = THREADS.saturating_sub(self.running.len());
        self.running.extend(wanted.into_iter().take(free).filter_map(|subject| Running::start(subject, ctx)));
    }

    /// The files that were looked at since the last call.
    pub(super) fn finished(&mut self) -> Vec<(Subject, Scan)> {
        let mut finished = Vec::new();
        self.running.retain(|running| match running.outcome.try_recv() {
            Ok(Some(found)) => {
                finished.push((running.subject.clone(), found));
                false
            }
            Err(TryRecvError::Empty) => true,
            Ok(None) | Err(TryRecvError::Disconnected) => false,
        });
        finished
    }
}

impl Running {
    fn start(subject: Subject, ctx: &egui::Context) -> Option<Self> {
        let (tell, outcome) = mpsc::sync_channel(1);
        let (progress, ctx) = (Progress::default(), ctx.clone());
        let (input, watched) = (subject.input.clone(), progress.clone());
        let thread = thread::Builder::new().name("oomscope-glance".to_owned()).spawn(move || {
            // The window may be closed already.
            tell.send(scan(&input, &watched)).ok();
            ctx.request_repaint();
        });
        thread.inspect_err(|error| log::warn!("lists show no verdicts: {error}")).ok()?;
        Some(Self { subject, progress, outcome })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.progress.cancel();
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

    #[test]
    fn what_is_no_longer_wanted_is_stopped() {
        let mut scanner = Scanner::default();
        let ctx = egui::Context::default();
        scanner.look_at(vec![subject("leak_eval_losses.pickle")], &ctx);
        assert_eq!(scanner.running.len(), 1);
        scanner.look_at(Vec::new(), &ctx);
        assert!(wait(|| {
            scanner.finished();
            scanner.running.is_empty()
        }));
    }
}
