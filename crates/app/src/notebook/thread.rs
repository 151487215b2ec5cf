//! The thread that keeps notes: nothing in the window waits for the disk, and nothing is lost when it is closed.

use super::keeper::{Job, Keeper, Outcome};
use crate::work::worker::WorkMode;
use eframe::egui;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Jobs and outcomes that may wait. There is one at a time and, when the window is closed, a last one, so nothing ever
/// waits for room.
const MAX_WAITING: usize = 4;

/// A keeper, on its thread or here.
pub(super) struct KeeperThread {
    jobs: Option<SyncSender<Job>>,
    outcomes: Receiver<Outcome>,
    thread: Option<JoinHandle<()>>,
    /// The keeper, if there is no thread, with the way back.
    here: Option<(Keeper, SyncSender<Outcome>)>,
}

impl KeeperThread {
    pub(super) fn new(keeper: Keeper, ctx: &egui::Context, mode: WorkMode) -> Self {
        let (jobs, received) = sync_channel::<Job>(MAX_WAITING);
        let (done, outcomes) = sync_channel(MAX_WAITING);
        if mode == WorkMode::Blocking {
            return Self { jobs: None, outcomes, thread: None, here: Some((keeper, done)) };
        }
        let (mut keeper, ctx) = (keeper, ctx.clone());
        let work = move || {
            for job in received {
                // The window may be gone; the job is done all the same.
                done.send(keeper.run(job)).ok();
                ctx.request_repaint();
            }
        };
        let thread = thread::Builder::new().name("oomscope-notes".to_owned()).spawn(work);
        let thread = thread.inspect_err(|error| log::warn!("notes are not kept: {error}")).ok();
        Self { jobs: Some(jobs), outcomes, thread, here: None }
    }

    pub(super) fn send(&mut self, job: Job) {
        if let Some((keeper, done)) = &mut self.here {
            done.send(keeper.run(job)).ok();
        } else if let Some(jobs) = &self.jobs {
            // Without a thread, nothing comes back.
            jobs.send(job).ok();
        }
    }

    pub(super) fn outcome(&self) -> Option<Outcome> {
        self.outcomes.try_recv().ok()
    }
}

impl Drop for KeeperThread {
    fn drop(&mut self) {
        // The thread ends behind the last job.
        self.jobs = None;
        self.thread.take().into_iter().for_each(|thread| drop(thread.join()));
    }
}
