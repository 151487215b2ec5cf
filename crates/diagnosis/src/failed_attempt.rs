//! Memory of attempts that ran out of memory before, which the program still holds when it tries again.
//!
//! A call that fails lets go of everything it made, unless something keeps its frames: an exception that is stored, the
//! `except` block in which the program tries again, or a notebook that keeps the last traceback.

use super::case::{Case, by_stack};
use super::finding::StackBytes;
use oomscope_analysis::{Category, FrameKey, Phase};
use oomscope_model::{AllocId, Allocation, Bytes, EventIx, Moment, StackId};
use std::collections::BTreeMap;

/// What earlier attempts made and still hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FailedAttempts {
    /// Their bytes.
    pub(super) bytes: Bytes,
    /// The failed requests that ended them.
    pub(super) ooms: Vec<EventIx>,
    /// The stacks, most bytes first.
    pub(super) stacks: Vec<StackBytes>,
    /// The allocations, largest first.
    pub(super) allocations: Vec<AllocId>,
}

impl FailedAttempts {
    /// The attempts before the failed request of a case; `None` if nothing of them is left.
    pub(super) fn of(case: &Case<'_>) -> Option<Self> {
        case.shortage.as_ref()?;
        let ooms = case.recording.ooms.iter().map(|oom| oom.event);
        let earlier: Vec<EventIx> = ooms.filter(|&oom| Moment::after(oom) < case.moment).collect();
        if earlier.is_empty() {
            return None;
        }
        let live = live_by_event(case);
        let last_requests = last_requests(case);
        let mut kept: Vec<&Allocation> = Vec::new();
        let mut ended_by = Vec::new();
        let mut after = EventIx(0);
        for oom in earlier {
            let start = start_of_attempt(case, oom).max(after);
            let left = made_between(&live, start, oom);
            let made: Vec<&Allocation> = left.iter().copied().filter(|a| is_of_attempt(case, a)).collect();
            let models = made_between(&live, after, start);
            if !made.is_empty() && is_tried_again(case, models, left, &last_requests, oom) {
                kept.extend(made);
                ended_by.push(oom);
            }
            after = oom;
        }
        kept.sort_by_key(|a| (std::cmp::Reverse(a.size), a.id));
        (!kept.is_empty()).then(|| Self {
            bytes: kept.iter().map(|a| a.size).sum::<Bytes>(),
            ooms: ended_by,
            stacks: by_stack(kept.iter().map(|a| (a.stack, a.size))),
            allocations: kept.iter().map(|a| a.id).collect(),
        })
    }
}

/// The first event of the attempt that a failed request ended: that of its iteration or call, but after the last step.
fn start_of_attempt(case: &Case<'_>, oom: EventIx) -> EventIx {
    let repetitions = &case.repetitions;
    let start = repetitions.index_of(oom).and_then(|index| repetitions.start(index)).unwrap_or(EventIx(0));
    let mut phases = case.phases().phases.iter().rev().skip_while(|phase| oom < phase.event);
    let step = phases.find(|phase| phase.phase == Phase::Optimizer);
    step.map_or(start, |step| step.event.max(start))
}

/// The live allocations that the recording saw made, in that order.
fn live_by_event<'a>(case: &'a Case<'_>) -> Vec<&'a Allocation> {
    let mut live: Vec<&Allocation> = case.live.iter().filter(|a| a.alloc_event().is_some()).collect();
    live.sort_by_key(|a| a.alloc_event());
    live
}

/// Those of some allocations, sorted by event, that were made from one event until before another.
fn made_between<'a, 'b>(live: &'b [&'a Allocation], start: EventIx, oom: EventIx) -> &'b [&'a Allocation] {
    let first_from = |event: EventIx| live.partition_point(|a| a.alloc_event() < Some(event));
    live.get(first_from(start)..first_from(oom)).unwrap_or_default()
}

/// Whether an allocation goes when the attempt does. Parameters, gradients and state belong to the model, whatever happens
/// to the attempt.
fn is_of_attempt(case: &Case<'_>, allocation: &Allocation) -> bool {
    let category = case.category(allocation.id);
    !matches!(
        category,
        Category::Parameter
            | Category::Gradient
            | Category::OptimizerState
            | Category::Comm
            | Category::GraphPool
    )
}

/// By stack: the moment after the last request, before the moment of the case, of the own line that made it; `None` without an
/// own line or a request. A request that failed counts: the next attempt may fail at its first.
fn last_requests(case: &Case<'_>) -> Vec<Option<Moment>> {
    let timeline = case.recording.timeline();
    let made = timeline.ids().map(|id| (timeline.stack(id), timeline.lifetimes.start(id)));
    let failed = timeline.ooms.iter().map(|oom| (timeline.events.stack(oom.event), Moment::after(oom.event)));
    let mut of_stacks: Vec<Option<Moment>> = vec![None; case.recording.snapshot().stacks.len()];
    for (stack, moment) in made.chain(failed).filter(|&(_, moment)| moment <= case.moment) {
        if let Some(last) = of_stacks.get_mut(stack.index()) {
            *last = (*last).max(Some(moment));
        }
    }
    let mut of_lines: BTreeMap<FrameKey, Moment> = BTreeMap::new();
    let mut lines: Vec<Option<FrameKey>> = vec![None; of_stacks.len()];
    for ((stack, line), last) in (0..).map(StackId).zip(&mut lines).zip(&of_stacks) {
        let Some(last) = *last else { continue };
        *line = case.code.own_line(stack);
        if let Some(line) = *line {
            let of_line = of_lines.entry(line).or_insert(last);
            *of_line = last.max(*of_line);
        }
    }
    lines.into_iter().map(|line| of_lines.get(&line?).copied()).collect()
}

/// Whether the program went back after a failed request to the line that made the first activation of the attempt, the first
/// of all that is `left` of it, or one of its models: else it may have gone on with the attempt in another way.
fn is_tried_again(
    case: &Case<'_>,
    models: &[&Allocation],
    left: &[&Allocation],
    last_requests: &[Option<Moment>],
    oom: EventIx,
) -> bool {
    let last = |a: &&Allocation| last_requests.get(a.stack.index()).copied().flatten();
    let activations = left.iter().filter(|a| case.category(a.id) == Category::Activation);
    let first = activations.filter_map(last).take(1).chain(left.first().and_then(last));
    let parameters = models.iter().filter(|a| case.category(a.id) == Category::Parameter);
    first.chain(parameters.filter_map(last)).any(|last| Moment::after(oom) < last)
}
