//! Memory of attempts that ran out of memory before, which the program still holds when it tries again.
//!
//! A call that fails lets go of everything it made, unless something keeps its frames: an exception that is stored, the
//! `except` block in which the program tries again, or a notebook that keeps the last traceback.

use super::case::{Case, by_stack};
use super::finding::StackBytes;
use crate::analysis::{Category, FrameKey, Phase};
use crate::model::{AllocId, Allocation, EventIx, Moment};
use std::collections::BTreeSet;

/// What earlier attempts made and still hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FailedAttempts {
    /// Their bytes.
    pub(super) bytes: i64,
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
        let ooms = case.timeline.ooms.iter().map(|oom| oom.event);
        let earlier: Vec<EventIx> = ooms.filter(|&oom| Moment::after(oom) < case.moment).collect();
        let mut kept: Vec<&Allocation> = Vec::new();
        let mut ended_by = Vec::new();
        let mut after = EventIx(0);
        for oom in earlier {
            let start = start_of_attempt(case, oom).max(after);
            let made = made_between(case, start, oom);
            if !made.is_empty() && is_tried_again(case, start, &made, oom) {
                kept.extend(made);
                ended_by.push(oom);
            }
            after = oom;
        }
        kept.sort_by_key(|a| (std::cmp::Reverse(a.size), a.id));
        (!kept.is_empty()).then(|| Self {
            bytes: kept.iter().fold(0i64, |sum, a| sum.saturating_add(a.size)),
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

/// The live allocations of an attempt, in the order in which it made them. Parameters, gradients and state belong to the
/// model, whatever happens to the attempt.
fn made_between<'a>(case: &'a Case<'_>, start: EventIx, oom: EventIx) -> Vec<&'a Allocation> {
    let is_made = |a: &&Allocation| {
        let belongs_to_model = matches!(
            case.category(a.id),
            Category::Parameter
                | Category::Gradient
                | Category::OptimizerState
                | Category::Comm
                | Category::GraphPool
        );
        !belongs_to_model && a.alloc_event().is_some_and(|event| start <= event && event < oom)
    };
    let mut made: Vec<&Allocation> = case.live.iter().filter(is_made).collect();
    made.sort_by_key(|a| a.id);
    made
}

/// Whether the program went back after a failed request to the line that made the first activation of the attempt, or the
/// first of all that is left of it: else it may have gone on with the attempt in another way.
fn is_tried_again(case: &Case<'_>, start: EventIx, made: &[&Allocation], oom: EventIx) -> bool {
    let activations = made.iter().copied().filter(|a| case.category(a.id) == Category::Activation);
    let is_left = |a: &&Allocation| a.alloc_event().is_some_and(|event| start <= event && event < oom);
    let first = case.live.iter().filter(is_left).min_by_key(|a| a.id);
    let line_of = |a: &Allocation| case.code.own_line(a.stack);
    let first_lines: Vec<FrameKey> =
        activations.filter_map(line_of).take(1).chain(first.and_then(line_of)).collect();
    let timeline = case.timeline;
    let later = timeline.ids().rev().map(|id| (timeline.lifetimes.start(id), timeline.stack(id)));
    let since = later.skip_while(|(start, _)| case.moment < *start).take_while(|(start, _)| oom.0 < start.0);
    // The next attempt may fail at its first request.
    let requests = timeline.ooms.iter().map(|later| later.event).filter(|&later| oom < later);
    let requests = requests.filter(|&later| Moment::after(later) <= case.moment);
    let requested = requests.map(|later| timeline.events.stack(later));
    let stacks: BTreeSet<_> = since.map(|(_, stack)| stack).chain(requested).collect();
    let lines: BTreeSet<FrameKey> =
        stacks.into_iter().filter_map(|stack| case.code.own_line(stack)).collect();
    first_lines.iter().any(|line| lines.contains(line))
}
