//! The thread that exports, its stage, and its outcome.

use super::job::ExportJob;
use eframe::egui;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// How an export ended.
pub(in crate::app) enum Outcome {
    /// A file is there now.
    Written { noun: &'static str, path: PathBuf },
    /// A picture for the clipboard.
    Copied(Arc<egui::ColorImage>),
    /// A file is there already, and was to be kept.
    Exists {
        path: PathBuf,
        /// A name beside it that is not taken.
        free: Option<PathBuf>,
    },
    /// The reason why there is none.
    Failed(String),
    /// The user did not want it any more: nothing was written.
    Cancelled,
}

/// The stage of an export and the wish to end it, shared by the window and the thread.
#[derive(Clone, Default)]
pub(super) struct Watch(Arc<Mutex<Watched>>);

#[derive(Default)]
struct Watched {
    stage: &'static str,
    is_cancelled: bool,
}

impl Watch {
    /// Begin a stage. False if the export is not wanted any more.
    pub(super) fn enter(&self, stage: &'static str) -> bool {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.stage = stage;
        !watched.is_cancelled
    }

    fn cancel(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_cancelled = true;
    }

    /// The stage; `None` once it is cancelled.
    fn stage(&self) -> Option<&'static str> {
        let watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (!watched.is_cancelled).then_some(watched.stage)
    }
}

/// Exports; at most one runs.
#[derive(Default)]
pub(in crate::app) struct Exporter {
    running: Option<Running>,
}

struct Running {
    outcome: Receiver<Outcome>,
    watch: Watch,
}

impl Exporter {
    /// Make a picture or a report. Returns a message if that cannot be done now.
    pub(in crate::app) fn start(&mut self, job: ExportJob, ctx: &egui::Context) -> Option<String> {
        if self.running.is_some() {
            return Some("One at a time: the last export is not written yet".to_owned());
        }
        let (sender, outcome) = sync_channel(1);
        let (watch, ctx) = (Watch::default(), ctx.clone());
        let watched = watch.clone();
        let work = move || {
            // The window may be gone.
            sender.send(job.run(&watched)).ok();
            ctx.request_repaint();
        };
        match thread::Builder::new().name("oomscope-export".to_owned()).spawn(work) {
            Ok(_) => {
                self.running = Some(Running { outcome, watch });
                None
            }
            Err(error) => Some(format!("Nothing is exported: a thread cannot be started ({error})")),
        }
    }

    /// True while an export is not finished.
    pub(in crate::app) fn is_busy(&self) -> bool {
        self.running.is_some()
    }

    /// What is being done.
    pub(super) fn stage(&self) -> Option<&'static str> {
        self.running.as_ref().map(|running| running.watch.stage().unwrap_or("Stopping"))
    }

    /// End the export at its next stage, without a file.
    pub(super) fn cancel(&self) {
        if let Some(running) = &self.running {
            running.watch.cancel();
        }
    }

    /// The outcome of an export that has ended; once.
    pub(in crate::app) fn outcome(&mut self) -> Option<Outcome> {
        let outcome = match self.running.as_ref()?.outcome.try_recv() {
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => Outcome::Failed("No file: making it failed".to_owned()),
            Ok(outcome) => outcome,
        };
        self.running = None;
        Some(outcome)
    }
}
