//! The thread that exports.

use super::job::ExportJob;
use super::outcome::{Outcome, Watch};
use crate::texts;
use eframe::egui;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;
use tr::tr;

/// Exports; at most one runs.
#[derive(Default)]
pub(crate) struct Exporter {
    running: Option<Running>,
}

struct Running {
    outcome: Receiver<Outcome>,
    watch: Watch,
}

impl Exporter {
    /// Make a picture or a report. Returns a message if that cannot be done now.
    pub(crate) fn start(&mut self, job: ExportJob, ctx: &egui::Context) -> Option<String> {
        if self.running.is_some() {
            return Some(tr!("One at a time: the last export is not written yet"));
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
            Err(error) => Some(tr!("Nothing is exported: a thread cannot be started ({error})", error)),
        }
    }

    /// True while an export is not finished.
    pub(crate) fn is_busy(&self) -> bool {
        self.running.is_some()
    }

    /// What is being done.
    pub(super) fn stage(&self) -> Option<String> {
        self.running
            .as_ref()
            .map(|running| running.watch.stage().map_or_else(|| tr!("Stopping"), texts::translated))
    }

    /// End the export at its next stage, without a file.
    pub(super) fn cancel(&self) {
        if let Some(running) = &self.running {
            running.watch.cancel();
        }
    }

    /// The outcome of an export that has ended; once.
    pub(crate) fn outcome(&mut self) -> Option<Outcome> {
        let outcome = match self.running.as_ref()?.outcome.try_recv() {
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => Outcome::Failed(tr!("No file: making it failed")),
            Ok(outcome) => outcome,
        };
        self.running = None;
        Some(outcome)
    }
}
