//! The course of a program: phases, iterations and calls as facts show them, before any rule.

use super::iteration_starts::iteration_starts;
use super::iterations::Iterations;
use super::metadata::Metadata;
use super::named_steps::named_steps;
use super::phase::{Phase, PhaseStart, phase_start_at};
use super::phase_builder::{CallStart, build_phases};
use super::without_stacks::{BetweenSteps, phases_between_steps};
use crate::analysis::attribution::facts::{Announced, Facts};
use crate::model::{DeviceId, EventIx, Moment, Snapshot, Timeline};

/// A call of a model from outside of any model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelCall {
    /// Its first event.
    pub event: EventIx,
    /// Whether its activations are for a backward pass.
    pub trains: bool,
}

/// What a program did when, as far as facts show it. Rules read it; nothing changes it after that.
#[derive(Debug, Default)]
pub(in crate::analysis::attribution) struct Course {
    /// Starts of phases, in order; the first starts with the first event.
    pub(super) phases: Vec<PhaseStart>,
    /// Iterations; numbered if their numbers were announced, or the recording shows the first.
    pub(in crate::analysis::attribution) iterations: Iterations,
    /// Calls of models, in order.
    pub(super) calls: Vec<ModelCall>,
    /// Whether the phases are read from sizes and lifetimes between announced steps rather than from stacks.
    pub(super) is_between_steps: bool,
    /// Whether torch announced the steps within the trace.
    pub(super) are_steps_announced: bool,
    /// Ranges of events whose phase is in the program's metadata.
    pub(super) from_metadata: Vec<[u32; 2]>,
    /// Number of events.
    pub(super) events: u32,
}

impl Course {
    /// Read it from facts. Pinned memory of the host holds batches, which do not show what a device is doing.
    pub(in crate::analysis::attribution) fn of(
        snapshot: &Snapshot,
        timeline: &Timeline,
        facts: &Facts,
        announced: &Announced,
    ) -> Self {
        if timeline.device == DeviceId::HOST {
            return Self::unknown(timeline);
        }
        let has_stacks = facts.of_device(timeline).activities.has_stacks;
        let between_steps = (!has_stacks && 0 <= timeline.device.0)
            .then(|| phases_between_steps(timeline, announced))
            .flatten();
        let found = match between_steps {
            Some(found) => from_announced_steps(timeline, found, &announced.ends()),
            None => from_stacks(snapshot, timeline, facts, announced),
        };
        let metadata = Metadata::of(snapshot, timeline);
        let numbered = named_steps(snapshot, timeline)
            .or_else(|| metadata.as_ref().and_then(|metadata| metadata.steps(timeline)));
        let iterations = match numbered {
            Some((starts, first)) => Iterations::from_starts(timeline, &starts, Some(first)),
            None => found.iterations,
        };
        // Stacks show phases event by event; metadata may name only a part of them.
        let (phases, from_metadata) = match metadata.filter(|_| !has_stacks) {
            Some(metadata) => metadata.laid_over(timeline, &found.phases),
            None => (found.phases, Vec::new()),
        };
        let are_steps_announced = announced.within_trace().next().is_some();
        Self { phases, iterations, are_steps_announced, from_metadata, ..found }
    }

    fn unknown(timeline: &Timeline) -> Self {
        let phases = vec![PhaseStart { event: EventIx(0), phase: Phase::Unknown }];
        Self { phases, events: timeline.events.len() as u32, ..Self::default() }
    }

    /// The phase that the event before a moment belongs to.
    pub(in crate::analysis::attribution) fn phase_at(&self, moment: Moment) -> Phase {
        self.start_before(moment).map_or(Phase::Unknown, |start| start.phase)
    }

    /// The start of the phase that the event before a moment belongs to.
    pub(super) fn start_before(&self, moment: Moment) -> Option<&PhaseStart> {
        phase_start_at(&self.phases, moment.event().map_or(0, |event| event.0))
    }

    /// Whether any phase is a backward.
    pub(super) fn has_backward(&self) -> bool {
        self.phases.iter().any(|start| start.phase == Phase::Backward)
    }
}

fn from_announced_steps(timeline: &Timeline, found: BetweenSteps, steps: &[u32]) -> Course {
    let is_numbered = timeline.lifetimes.initial_count() == 0 && found.is_counted;
    let mut iterations = Iterations::from_starts(timeline, &found.starts, is_numbered.then_some(0));
    iterations.note_steps(steps);
    iterations.unsure_from = found.unsure_from;
    let events = timeline.events.len() as u32;
    Course { phases: found.phases, iterations, is_between_steps: true, events, ..Course::default() }
}

fn from_stacks(snapshot: &Snapshot, timeline: &Timeline, facts: &Facts, announced: &Announced) -> Course {
    let device = facts.of_device(timeline);
    let built = build_phases(timeline, &facts.stacks, device, announced);
    let starts = iteration_starts(snapshot, timeline, facts, &built.calls, announced);
    let is_numbered = timeline.lifetimes.initial_count() == 0;
    let mut iterations = Iterations::from_starts(timeline, &starts, is_numbered.then_some(0));
    iterations.note_steps(&device.steps.seen);
    let call = |call: &CallStart| ModelCall { event: EventIx(call.event), trains: call.trains };
    let calls = built.calls.iter().map(call).collect();
    let events = timeline.events.len() as u32;
    Course { phases: built.phases, iterations, calls, events, ..Course::default() }
}
