//! The work that is under way when a recording ends, after the last step: read beside one of the last iterations.

use super::alignment;
use super::lifetimes_by_event::LifetimesByEvent;
use super::passes::Pass;
use super::step_intervals::StepInterval;
use crate::analysis::attribution::structure::phase::{Phase, PhaseStart};
use crate::analysis::attribution::thresholds::MAX_COMPARED;
use crate::model::{AllocId, Timeline};

/// Of the last iterations, this many are tried. Programs that do something else now and then repeat it within a few.
const MAX_TRIED_ITERATIONS: usize = 4;

/// The phases from an event on, if the allocations go as in one of the last iterations, of which the phases are known.
pub(super) fn phases_after_last_step(
    timeline: &Timeline,
    lifetimes: &LifetimesByEvent<'_>,
    known: &[PhaseStart],
    intervals: &[StepInterval],
    passes: &[Pass],
    begins: u32,
) -> Option<Vec<PhaseStart>> {
    // What follows on a failure is freed because of it.
    let failed = timeline.ooms.last().map(|oom| oom.event.0).filter(|&event| begins < event);
    let until = failed.unwrap_or(lifetimes.event_count());
    let made = |from, to| lifetimes.allocated_in(from, to).collect::<Vec<AllocId>>();
    let new = made(begins, until);
    let iterations =
        intervals.iter().rev().filter(|interval| interval.step_end.is_some() && interval.may_be_pass);
    let phases_like = |interval: &StepInterval| {
        let starts = [interval.first_alloc, interval.trains_from(passes)].into_iter().flatten();
        starts.into_iter().find_map(|from| {
            let old = made(from, interval.window.to);
            alignment::phases_like_earlier(lifetimes, known, &new, until, &old)
        })
    };
    let found = iterations.clone().take(MAX_TRIED_ITERATIONS).find_map(phases_like)?;
    let has = |phase| found.iter().any(|start| start.phase == phase);
    let may_be_evaluation = has(Phase::Forward) && !has(Phase::Backward);
    let is_sure = !may_be_evaluation
        || !iterations.into_iter().any(|interval| has_other_graph(lifetimes, interval, passes));
    is_sure.then_some(found)
}

/// Whether something else is called before the pass, which keeps a graph as well: an evaluation with gradients looks
/// like a training forward.
fn has_other_graph(lifetimes: &LifetimesByEvent<'_>, interval: &StepInterval, passes: &[Pass]) -> bool {
    let Some((begins, data)) = interval.first_alloc.zip(interval.trains_from(passes)) else { return false };
    let made = |from, to| lifetimes.allocated_in(from, to).take(MAX_COMPARED).collect::<Vec<AllocId>>();
    alignment::are_alike(lifetimes, &made(begins, data), &made(data, interval.window.to))
}
