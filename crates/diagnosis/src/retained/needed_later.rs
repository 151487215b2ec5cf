//! Allocations that a backward pass or a step still to come may need. One step may take many calls of a model.

use super::source::Source;
use crate::case::Case;
use foldhash::HashSet;
use oomscope_analysis::{Category, Phase};
use oomscope_model::{Allocation, EventIx, Moment};
use oomscope_program::numbers::MANY;

/// Shows which allocations a backward pass or a step may still need.
pub(super) struct NeededLater {
    /// First events of the backward passes until the moment.
    backwards: Vec<u32>,
    /// Sources of activations and inputs, some of which a backward pass gave back.
    trained: HashSet<Source>,
    /// The start of the iteration at the moment, if optimizer steps separate iterations.
    iteration: Option<EventIx>,
    /// Repetitions that hold a graph for a backward pass, of a program that trains although no backward pass is in the
    /// recording.
    unseen_graphs: HashSet<usize>,
}

impl NeededLater {
    pub(super) fn of(case: &Case<'_>) -> Self {
        let phases = &case.phases().phases;
        let backward = |at: usize| {
            let start = phases.get(at)?;
            let end = phases.get(at + 1).map_or(u32::MAX, |next| next.event.0);
            (start.phase == Phase::Backward).then_some((start.event.0, end))
        };
        let ranges: Vec<(u32, u32)> = (0..phases.len()).filter_map(backward).collect();
        let backwards: Vec<u32> =
            ranges.iter().map(|range| range.0).filter(|&start| start < case.moment.0).collect();
        let trains_unseen = backwards.is_empty()
            && (phases.iter().any(|start| start.phase == Phase::Optimizer)
                || case.bytes_of(Category::OptimizerState) != 0
                || case.bytes_of(Category::Gradient) != 0)
            && !outnumber_a_backward(case);
        let unseen_graphs = if trains_unseen { calls_with_graphs(case) } else { HashSet::default() };
        // A single step does not show where iterations begin.
        let iteration = case.iteration_start().filter(|_| 1 < case.starts_of(Phase::Optimizer).count());
        Self { trained: trained(case, &ranges), backwards, iteration, unseen_graphs }
    }

    /// Whether a backward pass or a step that has not come yet may need an allocation.
    pub(super) fn contains(&self, case: &Case<'_>, a: &Allocation) -> bool {
        let Some(event) = a.alloc_event() else { return false };
        let is_activation = case.category(a.id) == Category::Activation;
        let is_trained = Source::of(case, a).is_some_and(|source| self.trained.contains(&source));
        // No step needs the results of an evaluation, nor the activations of calls that no backward pass ever followed.
        let evaluates = case.phases().phase_at(Moment::after(event)) == Phase::Eval;
        if !evaluates && (is_trained || !is_activation) && self.iteration.is_some_and(|start| start <= event)
        {
            return true;
        }
        let is_outdated = self.backwards.last().is_some_and(|&start| event.0 < start);
        // A graph holds the inputs that its backward pass needs as well as activations.
        !is_outdated && (is_trained || self.is_of_unseen_graph(case, event))
    }

    /// Whether an event is of a repetition that holds a graph for a backward pass that the recording does not show.
    fn is_of_unseen_graph(&self, case: &Case<'_>, event: EventIx) -> bool {
        case.repetitions.index_of(event).is_some_and(|index| self.unseen_graphs.contains(&index))
    }
}

/// The repetitions whose activations are live, as for a backward pass that is yet to come.
fn calls_with_graphs(case: &Case<'_>) -> HashSet<usize> {
    let may_train = case.live_of(Category::Activation).filter(|a| !case.code.says_evaluation(a.stack));
    may_train.filter_map(|a| case.repetition_of(a)).collect()
}

/// Whether there are activations of so many calls that no backward pass is meant to come for them.
fn outnumber_a_backward(case: &Case<'_>) -> bool {
    let last = case.repetitions.index_at(case.moment).and_then(|current| current.checked_sub(1));
    let live = || case.live_of(Category::Activation);
    let each = live().filter(|a| last.is_some() && case.repetition_of(a) == last).count();
    0 < each && each.saturating_mul(MANY) < live().count()
}

/// The sources of live activations and inputs that also made some which a backward pass gave back.
fn trained(case: &Case<'_>, backwards: &[(u32, u32)]) -> HashSet<Source> {
    let timeline = case.recording.timeline();
    let is_passing = |a: &&Allocation| matches!(case.category(a.id), Category::Activation | Category::Input);
    let live = case.live.iter().filter(is_passing);
    let mut open: HashSet<Source> = live.filter_map(|a| Source::of(case, a)).collect();
    let mut out = HashSet::default();
    if backwards.is_empty() {
        return out;
    }
    for id in timeline.ids() {
        // Usually a few iterations show all of them, long before the end of the recording.
        if open.is_empty() {
            break;
        }
        let Some(source) = Source::of_id(case, id).filter(|source| open.contains(source)) else {
            continue;
        };
        let Some(event) = timeline.gone(id).and_then(Moment::event) else { continue };
        let after = backwards.partition_point(|range| range.0 <= event.0);
        let before = after.checked_sub(1).and_then(|at| backwards.get(at));
        let made = timeline.lifetimes.start(id);
        if before.is_some_and(|range| event.0 < range.1 && made.0 <= range.0) {
            open.remove(&source);
            out.insert(source);
        }
    }
    out
}
