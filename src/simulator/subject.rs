//! A recording that is ready to be simulated.

use super::fidelity::{Fidelity, compare};
use super::requests::Requests;
use super::resolve::resolve;
use super::rules::{Rules, TieBreak};
use super::{Device, Outcome, Settings, infer, replay};
use crate::model::{EventIx, Snapshot, Timeline};

/// One device's recording, and what it shows of the allocator that it came from.
#[derive(Debug, Clone)]
pub struct Subject {
    requests: Requests,
    recorded: Settings,
    tie_break: TieBreak,
    device: Device,
    fidelity: Fidelity,
}

impl Subject {
    /// Read the requests and find out how well the simulation reproduces them. Takes about as long as
    /// two simulations.
    pub fn new(snapshot: &Snapshot, timeline: &Timeline) -> Self {
        Self::on_device(snapshot, timeline, Device::default())
    }

    /// The same where the device is known. What is `None` is derived from the recording.
    pub fn on_device(snapshot: &Snapshot, timeline: &Timeline, known: Device) -> Self {
        let recorded = Settings::recorded(snapshot);
        let mut requests = Requests::of(snapshot, timeline, &recorded);
        let mut tie_break = infer::tie_break(timeline);
        let mut device = infer::device(timeline, &requests, &recorded, tie_break, known);
        resolve(&mut requests, &Rules::new(&recorded, tie_break, &device));
        device = infer::total(timeline, &requests, &Rules::new(&recorded, tie_break, &device), device);
        let rules = |tie_break| Rules::new(&recorded, tie_break, &device);
        let mut fidelity = compare(timeline, &requests, &rules(tie_break));
        if !fidelity.is_complete() {
            let other = match tie_break {
                TieBreak::Address => TieBreak::Creation,
                TieBreak::Creation => TieBreak::Address,
            };
            let otherwise = compare(timeline, &requests, &rules(other));
            if fidelity.identical < otherwise.identical {
                (tie_break, fidelity) = (other, otherwise);
            }
        }
        Self { requests, recorded, tie_break, device, fidelity }
    }

    /// The settings of the recording.
    pub fn recorded_settings(&self) -> &Settings {
        &self.recorded
    }

    /// How far the simulation reproduces the recording under its own settings.
    pub fn fidelity(&self) -> Fidelity {
        self.fidelity
    }

    /// What is known of the device.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The last recorded request that failed.
    pub fn recorded_oom(&self) -> Option<EventIx> {
        infer::last_oom(&self.requests)
    }

    /// Blocks from before the trace that lie in no segment, which the simulation leaves out.
    pub fn unplaced(&self) -> usize {
        self.requests.start.unplaced
    }

    /// The same recording with each request's size times a factor; 0 is no request. What was live before
    /// the trace stays as it was.
    pub fn scaled(&self, factor: impl Fn(EventIx) -> f64) -> Self {
        let requests = self.requests.scaled(factor);
        Self { requests, recorded: self.recorded.clone(), ..*self }
    }

    /// The recording under other settings, on a device.
    pub fn simulate(&self, settings: &Settings, device: &Device) -> Outcome {
        replay::run(&self.requests, Rules::new(settings, self.tie_break, device))
    }
}
