//! A load in the background.

use super::{FileStamp, Input, LoadError, Progress, load};
use oomscope_model::Snapshot;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

/// The result of a background load.
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
    /// Start loading. `progress` follows and stops it; `wake` is called from the other thread when there is an outcome.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(input: Input, progress: Progress, wake: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let (sender, outcome) = sync_channel(1);
        let (job_input, job_progress) = (input.clone(), progress.clone());
        let stamp = Arc::new(OnceLock::new());
        let job_stamp = Arc::clone(&stamp);
        thread::Builder::new().name("oomscope-load".to_owned()).spawn(move || {
            let outcome = panics_as_errors(&job_input.name(), || {
                // Before the first byte is read, so that no later change is missed.
                if let Some(found) = job_input.path().and_then(FileStamp::of) {
                    job_stamp.get_or_init(|| found);
                }
                load(&job_input, &job_progress).map(Arc::new)
            });
            // The window may have closed the file meanwhile.
            sender.send(outcome).ok();
            wake();
        })?;
        Ok(Self { input, progress, stamp, outcome })
    }

    /// The input that is being loaded.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// The version of the file that is being loaded; `None` where it is no file.
    pub fn stamp(&self) -> Option<FileStamp> {
        self.stamp.get().copied()
    }

    /// How far the load is.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// The outcome, if the load has ended. It is given out once.
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

/// The outcome of `load`, where a panic is an internal error: a defect must not leave the caller waiting.
fn panics_as_errors(input: &str, load: impl FnOnce() -> LoadOutcome) -> LoadOutcome {
    // Nothing that a panic may leave half done is used afterwards: the model is lost with the closure.
    catch_unwind(AssertUnwindSafe(load)).unwrap_or_else(|panic| Err(LoadError::of_panic(input, &*panic)))
}

impl Drop for LoadJob {
    fn drop(&mut self) {
        self.progress.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::load_from;

    #[test]
    fn a_panic_is_an_internal_error_with_its_message() {
        let outcome = panics_as_errors("a.pickle", || panic!("broken at {}", 7));
        let Err(LoadError::Internal { input, message }) = outcome else { panic!("{outcome:?}") };
        assert_eq!((input.as_str(), message.as_str()), ("a.pickle", "broken at 7"));
    }
    /// A reader with a defect, behind a first byte.
    struct Broken(bool);

    impl io::Read for Broken {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            assert!(!std::mem::replace(&mut self.0, true), "broken reader");
            buf[0] = 0x80;
            Ok(1)
        }
    }

    #[test]
    fn a_panic_in_reading_ends_the_decoding_too() {
        let load = || load_from(Broken(false), "a.pickle", &Progress::default()).map(Arc::new);
        let outcome = panics_as_errors("a.pickle", load);
        let Err(LoadError::Internal { message, .. }) = outcome else { panic!("{outcome:?}") };
        assert_eq!(message, "broken reader");
    }
}
