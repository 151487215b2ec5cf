//! Loads that the window starts.

use super::load_page::Failure;
use eframe::egui;
use oomscope_snapshot::load::{Input, LoadError, LoadJob, Progress};
use oomscope_units as units;
use std::io;
use tr::tr;

/// Start loading a file, with the memory that the user allows it, in bytes.
pub(super) fn start(input: &Input, max_memory: Option<u64>, ctx: &egui::Context) -> io::Result<LoadJob> {
    let (waker, progress) = (ctx.clone(), Progress::with_preview());
    if let Some(bytes) = max_memory {
        progress.allow_memory(bytes);
    }
    LoadJob::start(input.clone(), progress, move || waker.request_repaint())
}

/// A load that could not be started.
pub(super) fn not_started(error: &io::Error) -> Failure {
    Failure {
        message: tr!("cannot start a thread: {error}", error),
        hint: tr!("close other programs and try again").into(),
        more_memory: None,
    }
}

/// A load that failed.
pub(super) fn failed(error: &LoadError, input: &Input) -> Failure {
    // Standard input can be read once.
    let more_memory = error.more_memory().filter(|_| *input != Input::Stdin);
    Failure { message: units::printable(&error.to_string()), hint: error.hint(), more_memory }
}
