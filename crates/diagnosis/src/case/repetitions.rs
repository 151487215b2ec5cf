//! The repetitions of a program, as stretches of events.
//!
//! A repetition is an iteration of training, or a part of one: evaluation often runs many batches between two optimizer
//! steps.

use foldhash::{HashMap, HashSet};
use oomscope_analysis::{Phase, Phases};
use oomscope_model::{Action, EventIx, Moment, StackId, Timeline};
use oomscope_program::numbers::{MANY, SEVERAL};
use oomscope_program::share::MUCH;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Calls after the last backward pass wait for no backward pass if there are more of them than this times the most that
/// one ever followed, and batches were loaded more often by as much: else the program may call its model for every token, and have
/// a longer text.
const MORE_CALLS: usize = 2;

/// What a repetition is called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Noun {
    /// A training iteration.
    #[default]
    Iteration,
    /// A call of a model, of which no backward pass follows.
    Call,
    /// A round of a loop that calls no model.
    Round,
}

impl Noun {
    /// One of them.
    pub(crate) fn singular(self) -> &'static str {
        match self {
            Self::Iteration => "iteration",
            Self::Call => "call of the model",
            Self::Round => "round",
        }
    }

    /// So many of them, as short as a picture needs it.
    pub(crate) fn in_short(self, count: usize) -> &'static str {
        match (self, count) {
            (Self::Iteration, 1) => "iteration",
            (Self::Iteration, _) => "iterations",
            (Self::Call, 1) => "call",
            (Self::Call, _) => "calls",
            (Self::Round, 1) => "round",
            (Self::Round, _) => "rounds",
        }
    }

    /// Several of them.
    pub(crate) fn plural(self) -> &'static str {
        match self {
            Self::Iteration => "iterations",
            Self::Call => "calls of the model",
            Self::Round => "rounds",
        }
    }
}

/// The repetitions of a program, by their first events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Repetitions {
    starts: Vec<EventIx>,
    /// What each is called.
    nouns: Vec<Noun>,
}

impl Repetitions {
    /// The iterations, the calls of models without training, and those of a last stretch of forward passes that no
    /// backward pass followed although one always did before.
    pub(crate) fn of(timeline: &Timeline, phases: &Phases) -> Self {
        let mut starts: Vec<EventIx> =
            phases.iterations.list.iter().map(|iteration| iteration.start).collect();
        if starts.is_empty() && phases.calls.is_empty() {
            let starts = of_a_stack(timeline);
            return Self { nouns: vec![Noun::Round; starts.len()], starts };
        }
        starts.extend(phases.calls.iter().filter(|call| !call.trains).map(|call| call.event));
        starts.extend(unfinished(timeline, phases));
        starts.sort_unstable();
        starts.dedup();
        let iterations: HashSet<EventIx> =
            phases.iterations.list.iter().map(|iteration| iteration.start).collect();
        let has_steps = phases.phases.iter().any(|start| start.phase == Phase::Optimizer);
        let noun = |start| {
            if has_steps && iterations.contains(start) { Noun::Iteration } else { Noun::Call }
        };
        Self { nouns: starts.iter().map(noun).collect(), starts }
    }

    /// What the repetitions of some events are called: those of most of the events.
    pub(crate) fn noun(&self, events: impl Iterator<Item = EventIx>) -> Noun {
        let mut counts: BTreeMap<Noun, usize> = BTreeMap::new();
        for event in events {
            let noun = self.index_of(event).and_then(|index| self.nouns.get(index));
            *counts.entry(noun.copied().unwrap_or_default()).or_default() += 1;
        }
        counts.into_iter().max_by_key(|&(_, count)| count).map_or(Noun::Iteration, |(noun, _)| noun)
    }

    /// The repetition that an event is in; `None` before the first.
    pub(crate) fn index_of(&self, event: EventIx) -> Option<usize> {
        self.starts.partition_point(|&start| start <= event).checked_sub(1)
    }

    /// The repetition that the event before a moment is in.
    pub(crate) fn index_at(&self, moment: Moment) -> Option<usize> {
        self.index_of(moment.event()?)
    }

    /// How many of the first `count` are called as one of some others is.
    pub(crate) fn alike(&self, count: usize, others: &[usize]) -> usize {
        let nouns: BTreeSet<Noun> =
            others.iter().filter_map(|&index| self.nouns.get(index)).copied().collect();
        self.nouns.iter().take(count).filter(|noun| nouns.contains(noun)).count()
    }

    /// Number of all of them.
    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    /// The first event of a repetition.
    pub(crate) fn start(&self, index: usize) -> Option<EventIx> {
        self.starts.get(index).copied()
    }
}

/// The phases with the ranges of their events.
fn ranges(timeline: &Timeline, phases: &Phases) -> Vec<(Phase, Range<u32>)> {
    let events = timeline.events.len() as u32;
    let ends = phases.phases.iter().skip(1).map(|start| start.event.0).chain([events]);
    phases.phases.iter().zip(ends).map(|(start, end)| (start.phase, start.event.0..end)).collect()
}

/// The calls after the last backward pass or step, if there are many more of them than a backward pass ever followed: no
/// backward pass will follow these.
fn unfinished(timeline: &Timeline, phases: &Phases) -> Vec<EventIx> {
    let runs = forward_runs(timeline, phases);
    let Some((last, earlier)) = runs.split_last() else { return Vec::new() };
    let calls_in = |run: &ForwardRun| {
        let calls = phases.calls.iter().filter(|call| run.events.contains(&call.event.0));
        calls.map(|call| call.event).collect::<Vec<_>>()
    };
    let before = earlier.iter().map(|run| calls_in(run).len()).max().unwrap_or(0);
    let loads = earlier.iter().map(|run| run.loads).max().unwrap_or(0);
    let factor = if loads.saturating_mul(MORE_CALLS) < last.loads { MORE_CALLS } else { MANY };
    let calls = calls_in(last);
    let is_open = last.events.end as usize == timeline.events.len();
    if !is_open || before == 0 || calls.len() <= before.saturating_mul(factor) {
        return Vec::new();
    }
    calls
}

/// A stretch of forward passes and loading between two backward passes.
struct ForwardRun {
    events: Range<u32>,
    /// Number of times that a batch was loaded.
    loads: usize,
}

fn forward_runs(timeline: &Timeline, phases: &Phases) -> Vec<ForwardRun> {
    let mut runs: Vec<ForwardRun> = Vec::new();
    let mut is_open = false;
    for (phase, range) in ranges(timeline, phases) {
        let is_pass = matches!(phase, Phase::Forward | Phase::Data | Phase::Eval);
        let loads = usize::from(phase == Phase::Data);
        match runs.last_mut().filter(|_| is_open) {
            Some(run) if is_pass => {
                run.events.end = range.end;
                run.loads += loads;
            }
            _ if is_pass => runs.push(ForwardRun { events: range, loads }),
            _ => {}
        }
        is_open = is_pass;
    }
    runs
}

/// The repetitions of a program that calls no model: they begin where one stack, the rarest that does, allocates again after
/// something was freed.
fn of_a_stack(timeline: &Timeline) -> Vec<EventIx> {
    let events = &timeline.events;
    let mut by_stack: HashMap<StackId, Vec<EventIx>> = HashMap::default();
    for ix in events.indices().filter(|&ix| events.action(ix) == Action::Alloc) {
        by_stack.entry(events.stack(ix)).or_default().push(ix);
    }
    by_stack.retain(|&stack, starts| stack != StackId::EMPTY && SEVERAL < starts.len());
    let mut by_stack: Vec<(StackId, Vec<EventIx>)> = by_stack.into_iter().collect();
    by_stack.sort_unstable_by_key(|(stack, starts)| (starts.len(), *stack));
    let frees: Vec<EventIx> =
        events.indices().filter(|&ix| events.action(ix) == Action::FreeCompleted).collect();
    let frees_within = |pair: &&[EventIx]| {
        frees.get(frees.partition_point(|free| *free < pair[0])).is_some_and(|free| *free < pair[1])
    };
    // Memory that is only filled, as by building a model, is no loop.
    let is_loop =
        |starts: &Vec<EventIx>| MUCH.is_reached(starts.windows(2).filter(frees_within).count(), starts.len());
    by_stack.into_iter().map(|(_, starts)| starts).find(is_loop).unwrap_or_default()
}
