//! Reads allocations beside those of an earlier iteration, one by one. Batches may have other sizes, but a model does the
//! same things with them in the same order.

use super::lifetimes_by_event::LifetimesByEvent;
use super::passes::Pass;
use super::step_intervals::StepInterval;
use crate::attribution::structure::phase::{Phase, PhaseStart, phase_start_at};
use crate::attribution::thresholds::{MAX_COMPARED, is_nearly_all};
use oomscope_model::{AllocId, Bytes, EventIx, Timeline};

/// Of the last iterations, this many are tried. Programs that do something else now and then repeat it within a few.
const MAX_TRIED_ITERATIONS: usize = 4;

/// Fewer allocations look like anything else.
pub(super) const MIN_COMPARED: usize = 12;

/// The size of an allocation as far as it does not depend on the batch.
fn fixed_size(lifetimes: &LifetimesByEvent<'_>, id: AllocId) -> Option<Bytes> {
    (lifetimes.is_parameter_sized(id) || lifetimes.is_scalar(id)).then(|| lifetimes.size(id))
}

/// The comparison of two stretches, as far as the shorter of them goes.
struct Comparison {
    /// How many allocations have the same fixed size, or none, in both.
    alike: usize,
    /// How many of those are kept in both, or in neither.
    same_fate: usize,
    /// How many are kept at the end, in each.
    kept: [usize; 2],
}

impl Comparison {
    fn of(lifetimes: &LifetimesByEvent<'_>, new: &[AllocId], old: &[AllocId]) -> Self {
        let ends = [new, old].map(|made| made.last().map_or(0, |&id| lifetimes.alloc_event(id)));
        let mut out = Self { alike: 0, same_fate: 0, kept: [0; 2] };
        for (&new, &old) in new.iter().zip(old) {
            let is_kept = [ends[0] < lifetimes.free_event(new), ends[1] < lifetimes.free_event(old)];
            for (count, is_kept) in out.kept.iter_mut().zip(is_kept) {
                *count += usize::from(is_kept);
            }
            if fixed_size(lifetimes, new) == fixed_size(lifetimes, old) {
                out.alike += 1;
                out.same_fate += usize::from(is_kept[0] == is_kept[1]);
            }
        }
        out
    }
}

/// The phases from the first of the new allocations until an event, if they go as the old ones did, of which the
/// phases are known.
fn phases_like_earlier(
    lifetimes: &LifetimesByEvent<'_>,
    phases: &[PhaseStart],
    new: &[AllocId],
    until: u32,
    old: &[AllocId],
) -> Option<Vec<PhaseStart>> {
    let next_old = old.get(new.len()).map(|&id| lifetimes.alloc_event(id));
    let old = old.get(..new.len()).filter(|old| MIN_COMPARED <= old.len())?;
    let compared = Comparison::of(lifetimes, new, old);
    let start = |phase, id| PhaseStart { event: EventIx(lifetimes.alloc_event(id)), phase };
    let first = *new.first()?;
    if !is_nearly_all(compared.same_fate, new.len()) {
        // The same calls that keep less are an evaluation.
        let [new_kept, old_kept] = compared.kept;
        let is_dropped =
            is_nearly_all(compared.alike, new.len()) && MIN_COMPARED <= old_kept && new_kept <= old_kept / 2;
        return is_dropped.then(|| vec![start(Phase::Eval, first)]);
    }
    let phase_of = |event: u32| phase_at(phases, event);
    let mut out = copy_phases(lifetimes, phases, new, old);
    // Frees after the last allocation show how far it has come: the old stretch had as many before it reached the phase.
    let (last, old_last) = (lifetimes.alloc_event(*new.last()?), lifetimes.alloc_event(*old.last()?));
    let freed = lifetimes.frees_in(last, until).count();
    let until_next = next_old.unwrap_or_else(|| lifetimes.event_count());
    let reached = lifetimes.frees_in(old_last, until_next).take(freed).last();
    let phase = reached.map_or_else(|| phase_of(old_last), phase_of);
    if out.last().is_some_and(|last| last.phase != phase) {
        out.push(PhaseStart { event: EventIx(until.saturating_sub(1)), phase });
    }
    out.last().is_some_and(|last| last.phase != Phase::Unknown).then_some(out)
}

/// Whether two stretches go the same way, as far as the shorter of them goes.
fn are_alike(lifetimes: &LifetimesByEvent<'_>, some: &[AllocId], others: &[AllocId]) -> bool {
    let count = some.len().min(others.len());
    let (some, others) = (some.get(..count).unwrap_or_default(), others.get(..count).unwrap_or_default());
    MIN_COMPARED <= count && is_nearly_all(Comparison::of(lifetimes, some, others).same_fate, count)
}

/// The phases of a batch that goes like an earlier one before the same step. Its gradients are added to those that
/// are there, so other blocks of it may stay.
pub(super) fn phases_of_repeated_batch(
    lifetimes: &LifetimesByEvent<'_>,
    phases: &[PhaseStart],
    new: &[AllocId],
    old: &[AllocId],
) -> Option<Vec<PhaseStart>> {
    let old = old.get(..new.len()).filter(|old| MIN_COMPARED <= old.len())?;
    let compared = Comparison::of(lifetimes, new, old);
    is_nearly_all(compared.alike, new.len()).then(|| copy_phases(lifetimes, phases, new, old))
}

/// Give each new allocation the phase of the old one.
fn copy_phases(
    lifetimes: &LifetimesByEvent<'_>,
    phases: &[PhaseStart],
    new: &[AllocId],
    old: &[AllocId],
) -> Vec<PhaseStart> {
    let mut out: Vec<PhaseStart> = Vec::new();
    for (&new, &old) in new.iter().zip(old) {
        let phase = phase_at(phases, lifetimes.alloc_event(old));
        if out.last().is_none_or(|last| last.phase != phase) {
            out.push(PhaseStart { event: EventIx(lifetimes.alloc_event(new)), phase });
        }
    }
    out
}

fn phase_at(phases: &[PhaseStart], event: u32) -> Phase {
    phase_start_at(phases, event).map_or(Phase::Unknown, |start| start.phase)
}

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
            phases_like_earlier(lifetimes, known, &new, until, &old)
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
    are_alike(lifetimes, &made(begins, data), &made(data, interval.window.to))
}
