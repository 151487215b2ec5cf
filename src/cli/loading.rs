//! Loading with a progress bar on the terminal.

use super::failure::Failure;
use super::stderr;
use indicatif::{ProgressBar, ProgressStyle};
use oomscope_model::Snapshot;
use oomscope_report::{device_lines, predicted_line};
use oomscope_snapshot::load::{Input, LoadJob, Progress};
use oomscope_units as units;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Time between two steps of the bar. Files that load faster never show one.
const TICK: Duration = Duration::from_millis(150);

/// Load a file, showing progress on standard error if it is a terminal. Says there why its figures are not known, if so.
pub(super) fn load(path: &Path) -> Result<Arc<Snapshot>, Failure> {
    let (snapshot, name) = read(path)?;
    for warning in warnings(&name, &snapshot) {
        stderr::notice(&warning);
    }
    Ok(snapshot)
}

/// Load a file that is no recording yet, so that nothing is to be said of its figures.
pub(super) fn load_quietly(path: &Path) -> Result<Arc<Snapshot>, Failure> {
    read(path).map(|(snapshot, _)| snapshot)
}

/// Load a file, with the name that it has in messages.
fn read(path: &Path) -> Result<(Arc<Snapshot>, String), Failure> {
    let input = Input::from_arg(path);
    let name = input.name();
    let job = LoadJob::start(input, Progress::default(), || {})
        .map_err(|e| Failure::new(format_args!("cannot start a thread: {e}"), "close other programs"))?;
    let mut bar: Option<ProgressBar> = None;
    let outcome = loop {
        if let Some(outcome) = job.wait(TICK) {
            break outcome;
        }
        let bar = bar.get_or_insert_with(|| new_bar(job.progress()));
        bar.set_position(job.progress().read_bytes());
        bar.set_message(format!("{} events", units::count(job.progress().events())));
    };
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let snapshot = outcome.map_err(|error| Failure::new(&error, error.hint()))?;
    if job.progress().has_more_behind() {
        stderr::notice(&format!("warning: {name} has bytes behind its compressed data, which are left out"));
    }
    Ok((snapshot, name))
}

/// What is to be known of the figures of a file: they are predicted, it is damaged, contradicts itself, or does not have all that
/// happened.
pub(super) fn warnings(name: &str, snapshot: &Arc<Snapshot>) -> Vec<String> {
    let damage = snapshot.damage.as_ref().map(|damage| {
        let (offset, reason) = (damage.offset, &damage.reason);
        format!("warning: {name} is damaged at byte {offset} ({reason}); showing what is whole before it")
    });
    let of_device = device_lines(snapshot).into_iter().map(|(why, line)| {
        let word = if why.is_fault() { "warning" } else { "note" };
        format!("{word}: {name}: {line}")
    });
    let predicted = predicted_line(snapshot).map(|line| format!("note: {name}: {line}"));
    predicted.into_iter().chain(damage).chain(of_device).collect()
}

/// Several files, loaded one after another. A file that cannot be loaded is reported and left out.
#[derive(Debug)]
pub(super) struct Loaded<'a> {
    paths: std::slice::Iter<'a, PathBuf>,
    has_failed: bool,
}

impl<'a> Loaded<'a> {
    pub(super) fn new(paths: &'a [PathBuf]) -> Self {
        Self { paths: paths.iter(), has_failed: false }
    }

    /// The result of a command that wrote something about each file. A file that could not be loaded is a
    /// failure, even if the reader of the output went away.
    pub(super) fn end(&self, written: Result<(), Failure>) -> Result<(), Failure> {
        if !self.has_failed {
            return written;
        }
        written.inspect_err(|failure| _ = failure.report()).ok();
        Err(Failure::Silent(ExitCode::FAILURE))
    }
}

impl<'a> Iterator for Loaded<'a> {
    type Item = (&'a Path, Arc<Snapshot>);

    fn next(&mut self) -> Option<Self::Item> {
        for path in &mut self.paths {
            match load(path) {
                Ok(snapshot) => return Some((path, snapshot)),
                Err(failure) => {
                    failure.report();
                    self.has_failed = true;
                }
            }
        }
        None
    }
}

fn new_bar(progress: &Progress) -> ProgressBar {
    let bar = progress.total_bytes().map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let template = "{bar:30} {binary_bytes} of {binary_total_bytes}, {msg}";
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}
