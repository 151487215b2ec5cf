//! One tab: a file that is loading, failed, or open.

use super::device::DeviceState;
use super::panes::Layout;
use super::preferences::Preferences;
use super::rasters::RasterMode;
use super::{Command, file_page, load_page};
use crate::load::{Input, LoadError, LoadJob, LoadOutcome};
use crate::model::{Anchor, Snapshot};
use crate::units;
use eframe::egui;
use std::sync::Arc;
use std::time::Duration;

/// How often progress is redrawn.
const PROGRESS_TICK: Duration = Duration::from_millis(50);

/// One file.
pub(super) struct Document {
    input: Input,
    title: String,
    state: State,
}

enum State {
    Loading(LoadJob),
    Failed(Failure),
    Open(Box<OpenFile>),
}

/// Why a file is not open.
pub(super) struct Failure {
    /// What went wrong.
    pub(super) message: String,
    /// What to try.
    pub(super) hint: &'static str,
}

/// A loaded file.
pub(super) struct OpenFile {
    /// One per device, in the snapshot's order.
    pub(super) devices: Vec<DeviceState>,
    /// The device that is shown.
    pub(super) current: usize,
    /// What the user must know about the file, in sentences.
    pub(super) notices: Vec<String>,
}

impl Document {
    /// Start loading a file.
    pub(super) fn load(input: Input, ctx: &egui::Context) -> Self {
        let waker = ctx.clone();
        let state = match LoadJob::start(input.clone(), move || waker.request_repaint()) {
            Ok(job) => State::Loading(job),
            Err(error) => State::Failed(Failure {
                message: format!("cannot start a thread: {error}"),
                hint: "close other programs and try again",
            }),
        };
        let name = input.name();
        Self { title: units::printable(units::basename(&name)), input, state }
    }

    /// Take the outcome of the load if there is one. False when the tab is to go: the user
    /// cancelled.
    pub(super) fn poll(&mut self, ctx: &egui::Context, mode: RasterMode) -> bool {
        let State::Loading(job) = &self.state else { return true };
        match job.poll() {
            None => ctx.request_repaint_after(PROGRESS_TICK),
            Some(Err(LoadError::Cancelled { .. })) => return false,
            Some(outcome) => self.state = State::of(outcome, ctx, mode),
        }
        true
    }

    pub(super) fn ui(
        &mut self,
        ui: &mut egui::Ui,
        tab: usize,
        layout: &mut Layout,
        commands: &mut Vec<Command>,
    ) {
        match &mut self.state {
            State::Loading(job) => load_page::progress_ui(ui, &self.title, job),
            State::Failed(failure) => load_page::failure_ui(ui, &self.title, failure, tab, commands),
            State::Open(file) => file_page::ui(ui, file, &self.title, layout),
        }
    }

    /// Let the file know what the user prefers.
    pub(super) fn prefer(&mut self, preferences: &Preferences) {
        for device in self.open_file().into_iter().flat_map(|file| &mut file.devices) {
            device.prefer(preferences);
        }
    }

    pub(super) fn input(&self) -> &Input {
        &self.input
    }

    /// The file's name without its folder.
    pub(super) fn title(&self) -> &str {
        &self.title
    }

    /// The file, if it is loaded.
    pub(super) fn open_file(&mut self) -> Option<&mut OpenFile> {
        match &mut self.state {
            State::Open(file) => Some(file),
            _ => None,
        }
    }
}

impl State {
    fn of(outcome: LoadOutcome, ctx: &egui::Context, mode: RasterMode) -> Self {
        match outcome {
            Ok(snapshot) => Self::Open(Box::new(OpenFile::new(&snapshot, ctx, mode))),
            Err(error) => {
                Self::Failed(Failure { message: units::printable(&error.to_string()), hint: error.hint() })
            }
        }
    }
}

impl OpenFile {
    fn new(snapshot: &Arc<Snapshot>, ctx: &egui::Context, mode: RasterMode) -> Self {
        let devices = 0..snapshot.timelines.len();
        let main = snapshot.main_timeline().map(|timeline| timeline.device);
        Self {
            current: snapshot.timelines.iter().position(|t| Some(t.device) == main).unwrap_or(0),
            devices: devices.map(|at| DeviceState::new(Arc::clone(snapshot), at, ctx, mode)).collect(),
            notices: notices(snapshot),
        }
    }

    /// The device that is shown.
    pub(super) fn device(&mut self) -> Option<&mut DeviceState> {
        self.devices.get_mut(self.current)
    }
}

fn notices(snapshot: &Snapshot) -> Vec<String> {
    let mut notices = Vec::new();
    if let Some(damage) = &snapshot.damage {
        let (offset, reason) = (units::count(damage.offset), units::printable(&damage.reason));
        notices.push(format!(
            "The file is damaged at byte {offset} ({reason}). What is whole before it is shown."
        ));
    }
    if snapshot.timelines.iter().any(|timeline| timeline.anchor == Anchor::TraceOnly) {
        notices.push(
            "The final state is missing, so memory from before the recording is unknown and left out of all figures."
                .to_owned(),
        );
    }
    if !snapshot.timelines.is_empty() && snapshot.timelines.iter().all(|timeline| timeline.events.is_empty())
    {
        notices.push(
            "No events were recorded: this is the memory as it was when the snapshot was taken. Call \
             torch.cuda.memory._record_memory_history() before the code to see how it came about."
                .to_owned(),
        );
    }
    notices
}
