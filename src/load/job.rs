//! A load in the background.

use super::pipe::panic_message;
use super::{FileStamp, Input, LoadError, Progress, load};
use crate::model::Snapshot;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

/// What a background load ended with.
pub type LoadOutcome = Result<Arc<Snapshot>, LoadError>;

/// A load that runs on a thread of its own.
#[derive(Debug)]
pub struct LoadJob {
    input: Input,
    progress: Progress,
    stamp: Arc<OnceLock<FileStamp>>,
    outcome: Receiver<LoadOutcome>,
}

impl LoadJob {
    /// Start loading. `wake` is called from the other thread when there is an outcome.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(input: Input, wake: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let progress = Progress::default();
        let (sender, outcome) = sync_channel(1);
        let (job_input, job_progress) = (input.clone(), progress.clone());
        let stamp = Arc::new(OnceLock::new());
        let job_stamp = Arc::clone(&stamp);
        thread::Builder::new().name("oomscope-load".to_owned()).spawn(move || {
            let name = job_input.name();
            let worker = thread::Builder::new().name("oomscope-read".to_owned()).spawn(move || {
                // Before the first byte is read, so that no later change is missed.
                if let Some(found) = job_input.path().and_then(FileStamp::of) {
                    job_stamp.get_or_init(|| found);
                }
                load(&job_input, &job_progress).map(Arc::new)
            });
            let outcome = match worker.map(thread::JoinHandle::join) {
                Ok(Ok(outcome)) => outcome,
                Ok(Err(panic)) => Err(LoadError::Internal { input: name, message: panic_message(&*panic) }),
                Err(source) => Err(LoadError::Read { input: name, source }),
            };
            // The window may have closed the file meanwhile.
            sender.send(outcome).ok();
            wake();
        })?;
        Ok(Self { input, progress, stamp, outcome })
    }

    /// What is being loaded.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// The version of the file that is being loaded; `None` where it is no file.
    pub fn stamp(&self) -> Option<FileStamp> {
        self.stamp.get().copied()
    }

    /// How far it is.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// The outcome, if there is one already.
    pub fn poll(&self) -> Option<LoadOutcome> {
        self.wait(Duration::ZERO)
    }

    /// The outcome, if there is one within `patience`. It is given out once.
    pub fn wait(&self, patience: Duration) -> Option<LoadOutcome> {
        match self.outcome.recv_timeout(patience) {
            Ok(outcome) => Some(outcome),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                let message = "the load ended without result".to_owned();
                Some(Err(LoadError::Internal { input: self.input.name(), message }))
            }
        }
    }
}

impl Drop for LoadJob {
    fn drop(&mut self) {
        self.progress.cancel();
    }
}
