//! Phases and iterations as facts alone show them, before any rule.

use super::iteration_starts::iteration_starts;
use super::iterations::Iterations;
use super::metadata::Metadata;
use super::named_steps::named_steps;
use super::phase_builder::{CallStart, build_phases};
use super::phases::{ModelCall, Phases};
use super::without_stacks::{BetweenSteps, phases_between_steps};
use crate::analysis::attribution::facts::{Announced, Facts};
use crate::model::{EventIx, Snapshot, Timeline};

/// Read phases and iterations from facts.
pub(in crate::analysis::attribution) fn phases_from_facts(
    snapshot: &Snapshot,
    timeline: &Timeline,
    facts: &Facts,
    announced: &Announced,
) -> Phases {
    let has_stacks = facts.of_device(timeline).activities.has_stacks;
    let metadata = Metadata::of(snapshot, timeline);
    let numbered_starts = named_steps(snapshot, timeline)
        .or_else(|| metadata.as_ref().and_then(|metadata| metadata.steps(timeline)));
    let is_device = 0 <= timeline.device.0;
    let between_steps =
        if !has_stacks && is_device { phases_between_steps(timeline, announced) } else { None };
    let mut out = match between_steps {
        Some(found) => from_announced_steps(timeline, found, &announced.ends()),
        None => from_stacks(snapshot, timeline, facts, announced),
    };
    out.are_steps_announced = announced.within_trace().next().is_some();
    if let Some((starts, first_number)) = numbered_starts {
        out.iterations = Iterations::from_starts(timeline, &starts, Some(first_number));
    }
    // Stacks show phases event by event; metadata may name only a part of them.
    if let Some(metadata) = metadata.filter(|_| !has_stacks) {
        out.from_metadata = metadata.overwrite(timeline, &mut out.phases);
    }
    out
}

fn from_announced_steps(timeline: &Timeline, found: BetweenSteps, steps: &[u32]) -> Phases {
    let is_numbered = timeline.lifetimes.initial_count() == 0 && found.is_counted;
    let mut iterations = Iterations::from_starts(timeline, &found.starts, is_numbered.then_some(0));
    iterations.note_steps(steps);
    iterations.unsure_from = found.unsure_from;
    let events = timeline.events.len() as u32;
    Phases { phases: found.phases, iterations, is_between_steps: true, events, ..Phases::default() }
}

fn from_stacks(snapshot: &Snapshot, timeline: &Timeline, facts: &Facts, announced: &Announced) -> Phases {
    let device = facts.of_device(timeline);
    let built = build_phases(timeline, &facts.stacks, device);
    let starts = iteration_starts(snapshot, timeline, facts, &built.calls, announced);
    let is_numbered = timeline.lifetimes.initial_count() == 0;
    let mut iterations = Iterations::from_starts(timeline, &starts, is_numbered.then_some(0));
    iterations.note_steps(&device.steps.seen);
    let call = |call: &CallStart| ModelCall { event: EventIx(call.event), trains: call.trains };
    let calls = built.calls.iter().map(call).collect();
    let events = timeline.events.len() as u32;
    Phases { phases: built.phases, iterations, calls, events, ..Phases::default() }
}
