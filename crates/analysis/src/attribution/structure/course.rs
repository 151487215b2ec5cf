//! The course of a program: phases, iterations and calls as facts show them, before any rule.

use super::iteration_starts::iteration_starts;
use super::iterations::Iterations;
use super::metadata::Metadata;
use super::named_steps::named_steps;
use super::phase::{Phase, PhaseStart};
use super::phase_builder::build_phases;
use super::phases::{ModelCall, Phases};
use super::without_stacks::phases_between_steps;
use crate::attribution::facts::{Announced, Facts};
use oomscope_model::{DeviceId, EventIx, Recording};

impl Phases {
    /// Read the course from facts; rules read it, and nothing but its numbers changes after that. Pinned memory of the host
    /// holds batches, which do not show what a device is doing.
    pub(in crate::attribution) fn of(recording: &Recording, facts: &Facts, announced: &Announced) -> Self {
        let events = recording.events.len() as u32;
        if recording.device == DeviceId::HOST {
            let phases = vec![PhaseStart { event: EventIx(0), phase: Phase::Unknown }];
            return Self { phases, events, ..Self::default() };
        }
        let has_stacks = facts.of_device(recording).activities.has_stacks;
        let between_steps = (!has_stacks && 0 <= recording.device.0)
            .then(|| phases_between_steps(recording, announced))
            .flatten();
        let found = between_steps.unwrap_or_else(|| from_stacks(recording, facts, announced));
        let metadata = Metadata::of(recording);
        let numbered = named_steps(recording)
            .or_else(|| metadata.as_ref().and_then(|metadata| metadata.steps(recording)));
        let iterations = match numbered {
            Some((starts, first)) => Iterations::from_starts(recording, &starts, Some(first)),
            None => found.iterations,
        };
        // Stacks show phases event by event; metadata may name only a part of them.
        let (phases, from_metadata) = match metadata.filter(|_| !has_stacks) {
            Some(metadata) => metadata.laid_over(recording, &found.phases),
            None => (found.phases, Vec::new()),
        };
        let steps_before = announced.steps.partition_point(|step| step.is_before);
        let are_steps_announced = announced.within_trace().next().is_some();
        Self { phases, iterations, steps_before, are_steps_announced, from_metadata, events, ..found }
    }
}

fn from_stacks(recording: &Recording, facts: &Facts, announced: &Announced) -> Phases {
    let device = facts.of_device(recording);
    let (phases, calls) = build_phases(recording, &facts.stacks, device, announced);
    let starts = iteration_starts(recording, facts, &calls, announced);
    let is_numbered = recording.lifetimes.initial_count() == 0;
    let mut iterations = Iterations::from_starts(recording, &starts, is_numbered.then_some(0));
    iterations.note_steps(&device.steps.seen);
    let calls = calls.iter().map(|call| ModelCall { event: EventIx(call.event), trains: call.trains });
    Phases { phases, iterations, calls: calls.collect(), ..Phases::default() }
}
