//! What waits for a backward pass or a step that is still to come: one step may take many calls of a model.

use super::source::Source;
use crate::analysis::{Category, Phase};
use crate::diagnosis::Context;
use crate::model::{Allocation, EventIx, Moment};
use foldhash::HashSet;

/// What tells whether a backward pass has outdated an activation.
pub(super) struct Awaited {
    /// First events of backward passes until the moment.
    backwards: Vec<u32>,
    /// What made activations that a backward pass gave back.
    trained: HashSet<Source>,
    /// Where the iteration begins in which the moment lies, if steps tell iterations apart.
    iteration: Option<EventIx>,
    /// Whether the program trains, although no backward pass is in the recording.
    trains_unseen: bool,
}

impl Awaited {
    pub(super) fn of(context: &Context<'_>) -> Self {
        let phases = &context.phases().phases;
        let backward = |at: usize| {
            let start = phases.get(at)?;
            let end = phases.get(at + 1).map_or(u32::MAX, |next| next.event.0);
            (start.phase == Phase::Backward).then_some((start.event.0, end))
        };
        let ranges: Vec<(u32, u32)> = (0..phases.len()).filter_map(backward).collect();
        let backwards: Vec<u32> =
            ranges.iter().map(|range| range.0).filter(|&start| start < context.moment.0).collect();
        let trains_unseen = backwards.is_empty()
            && (phases.iter().any(|start| start.phase == Phase::Optimizer)
                || context.bytes_of(Category::OptimizerState) != 0
                || context.bytes_of(Category::Gradient) != 0);
        let iteration = context.iteration_start().filter(|_| 1 < phases_of(context, Phase::Optimizer));
        Self { trained: trained(context, &ranges), backwards, iteration, trains_unseen }
    }

    /// Whether an allocation may be for a backward pass or a step that has not come yet.
    pub(super) fn contains(&self, context: &Context<'_>, a: &Allocation) -> bool {
        let Some(event) = a.alloc_event() else { return false };
        let is_activation = context.category(a.id) == Category::Activation;
        let is_trained = Source::of(context, a).is_some_and(|source| self.trained.contains(&source));
        // What an evaluation makes is for no step, be it by calls that no backward pass ever followed.
        let evaluates = context.phases().phase_at(Moment::after(event)) == Phase::Eval;
        if !evaluates && (is_trained || !is_activation) && self.iteration.is_some_and(|start| start <= event)
        {
            return true;
        }
        let is_outdated = self.backwards.last().is_some_and(|&start| event.0 < start);
        is_activation
            && !is_outdated
            && (is_trained || (self.trains_unseen && !context.code.says_evaluation(a.stack)))
    }
}

fn phases_of(context: &Context<'_>, phase: Phase) -> usize {
    let before = context.phases().phases.iter().filter(|start| start.event.0 < context.moment.0);
    before.filter(|start| start.phase == phase).count()
}

/// What made live activations that also made some which a backward pass gave back.
fn trained(context: &Context<'_>, backwards: &[(u32, u32)]) -> HashSet<Source> {
    let timeline = context.timeline;
    let live = context.live.iter().filter(|a| context.category(a.id) == Category::Activation);
    let mut open: HashSet<Source> = live.filter_map(|a| Source::of(context, a)).collect();
    let mut out = HashSet::default();
    if backwards.is_empty() {
        return out;
    }
    for id in timeline.lifetimes.ids() {
        if open.is_empty() {
            break;
        }
        let Some(source) = Source::of_id(context, id).filter(|source| open.contains(source)) else {
            continue;
        };
        let gone = timeline.lifetimes.requested(id).or(timeline.lifetimes.end(id));
        let Some(event) = gone.and_then(Moment::event) else { continue };
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
