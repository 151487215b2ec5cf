//! What the program does again and again, as stretches of events.
//!
//! A round is an iteration of training, or a part of one: evaluation often runs many batches between
//! two optimizer steps.

use crate::analysis::{Phase, Phases};
use crate::model::{Action, EventIx, Moment, StackId, Timeline};
use foldhash::HashMap;
use std::ops::Range;

/// Fewer are not taken for a loop where nothing else says so.
const MIN_REPETITIONS: usize = 4;

/// Stacks that are tried for that.
const MAX_TRIED: usize = 32;

/// Starts of rounds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rounds {
    starts: Vec<EventIx>,
}

impl Rounds {
    /// The iterations, the calls of models without training, and those of a last stretch of forward
    /// passes that no backward pass followed although one always did before.
    pub(super) fn of(timeline: &Timeline, phases: &Phases) -> Self {
        let mut starts: Vec<EventIx> =
            phases.iterations.list.iter().map(|iteration| iteration.start).collect();
        if starts.is_empty() && phases.calls.is_empty() {
            return Self { starts: repetitions(timeline) };
        }
        starts.extend(phases.calls.iter().filter(|call| !call.trains).map(|call| call.event));
        starts.extend(unfinished(timeline, phases));
        starts.sort_unstable();
        starts.dedup();
        Self { starts }
    }

    /// The round of an event; `None` before the first.
    pub(super) fn round(&self, event: EventIx) -> Option<usize> {
        self.starts.partition_point(|&start| start <= event).checked_sub(1)
    }

    /// The round of the event before a moment.
    pub(super) fn round_at(&self, moment: Moment) -> Option<usize> {
        self.round(moment.event()?)
    }

    /// The first event of a round.
    pub(super) fn start(&self, round: usize) -> Option<EventIx> {
        self.starts.get(round).copied()
    }
}

/// The phases and their events.
fn ranges(timeline: &Timeline, phases: &Phases) -> Vec<(Phase, Range<u32>)> {
    let events = timeline.events.len() as u32;
    let ends = phases.phases.iter().skip(1).map(|start| start.event.0).chain([events]);
    phases.phases.iter().zip(ends).map(|(start, end)| (start.phase, start.event.0..end)).collect()
}

/// The calls after the last backward pass or step, if there are many more of them than a backward pass
/// ever followed: it will not follow these.
fn unfinished(timeline: &Timeline, phases: &Phases) -> Vec<EventIx> {
    let runs = forward_runs(timeline, phases);
    let Some((last, earlier)) = runs.split_last() else { return Vec::new() };
    let calls_in = |run: &Run| {
        let calls = phases.calls.iter().filter(|call| run.events.contains(&call.event.0));
        calls.map(|call| call.event).collect::<Vec<_>>()
    };
    let before = earlier.iter().map(|run| calls_in(run).len()).max().unwrap_or(0);
    let loads = earlier.iter().map(|run| run.loads).max().unwrap_or(0);
    // A program that calls the model for every token may well have longer texts than before.
    let factor = if loads.saturating_mul(2) < last.loads { 2 } else { 8 };
    let calls = calls_in(last);
    let is_open = last.events.end as usize == timeline.events.len();
    if !is_open || before == 0 || calls.len() <= before.saturating_mul(factor) {
        return Vec::new();
    }
    calls
}

/// A stretch of forward passes and loading between two backward passes.
struct Run {
    events: Range<u32>,
    /// How often a batch was loaded.
    loads: usize,
}

fn forward_runs(timeline: &Timeline, phases: &Phases) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut is_open = false;
    for (phase, range) in ranges(timeline, phases) {
        let is_pass = matches!(phase, Phase::Forward | Phase::Data | Phase::Eval);
        let loads = usize::from(phase == Phase::Data);
        match runs.last_mut().filter(|_| is_open) {
            Some(run) if is_pass => {
                run.events.end = range.end;
                run.loads += loads;
            }
            _ if is_pass => runs.push(Run { events: range, loads }),
            _ => {}
        }
        is_open = is_pass;
    }
    runs
}

/// Rounds of a program that calls no model: where the same line allocates again after something was
/// freed. Memory that is only filled, as by building a model, is no round.
fn repetitions(timeline: &Timeline) -> Vec<EventIx> {
    let events = 0..timeline.events.len() as u32;
    let mut stacks: Vec<(usize, StackId)> = counts(timeline, events.clone())
        .into_iter()
        .filter(|&(_, count)| MIN_REPETITIONS <= count)
        .map(|(stack, count)| (count, stack))
        .collect();
    stacks.sort_unstable();
    let frees_within = |pair: &&[EventIx]| {
        let mut between = (pair[0].0..pair[1].0).map(EventIx);
        between.any(|ix| timeline.events.action(ix) == Action::FreeCompleted)
    };
    let starts = |&(_, stack): &(usize, StackId)| {
        let starts = starts_of(timeline, events.clone(), stack);
        let with_frees = starts.windows(2).filter(frees_within).count();
        (starts.len() <= with_frees * 4).then_some(starts)
    };
    stacks.iter().take(MAX_TRIED).find_map(starts).unwrap_or_default()
}

/// How many allocations each stack made.
fn counts(timeline: &Timeline, events: Range<u32>) -> HashMap<StackId, usize> {
    let mut counts: HashMap<StackId, usize> = HashMap::default();
    for ix in allocs(timeline, events) {
        *counts.entry(timeline.events.stack(ix)).or_default() += 1;
    }
    counts.remove(&StackId::EMPTY);
    counts
}

fn starts_of(timeline: &Timeline, events: Range<u32>, stack: StackId) -> Vec<EventIx> {
    allocs(timeline, events).filter(|&ix| timeline.events.stack(ix) == stack).collect()
}

fn allocs(timeline: &Timeline, events: Range<u32>) -> impl Iterator<Item = EventIx> + '_ {
    events.map(EventIx).filter(|&ix| timeline.events.action(ix) == Action::Alloc)
}
