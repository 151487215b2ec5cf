//! What is under way when a recording without stacks ends: read beside an earlier round, allocation by
//! allocation. Batches may have other sizes; what a model does with them keeps its order.

use super::humps::SCALAR_BYTES;
use super::tape::{Mark, Tape};
use super::{Phase, PhaseStart, start_at};
use crate::model::EventIx;

/// Fewer allocations look like anything.
const MIN_BIRTHS: usize = 12;

/// More are not looked at where it is only asked whether two stretches are alike.
pub(super) const MOST_COMPARED: usize = 64;

/// Of so many, one may differ.
const TOLERANCE: usize = 10;

/// What something is as far as it does not depend on the batch.
fn kind(tape: &Tape<'_>, id: u32) -> i64 {
    if tape.is_like_parameter(id) || tape.size(id) <= SCALAR_BYTES { tape.size(id) } else { -1 }
}

/// Whether nearly all of so many are.
fn is_most(count: usize, of: usize) -> bool {
    of - of / TOLERANCE <= count
}

/// How two stretches go together, as far as the shorter of them goes.
struct Fit {
    /// Allocations that are of one kind in both.
    alike: usize,
    /// Of those, how many are kept in both, or in neither.
    same: usize,
    /// How many are kept at the end, in each.
    kept: [usize; 2],
}

impl Fit {
    fn of(tape: &Tape<'_>, new: &[u32], old: &[u32]) -> Self {
        let ends = [new, old].map(|ids| ids.last().map_or(0, |&id| tape.birth(id)));
        let mut out = Self { alike: 0, same: 0, kept: [0; 2] };
        for (&new, &old) in new.iter().zip(old) {
            let is_kept = [ends[0] < tape.death(new), ends[1] < tape.death(old)];
            for (count, is_kept) in out.kept.iter_mut().zip(is_kept) {
                *count += usize::from(is_kept);
            }
            if kind(tape, new) == kind(tape, old) {
                out.alike += 1;
                out.same += usize::from(is_kept[0] == is_kept[1]);
            }
        }
        out
    }
}

/// The phases from the first of the new allocations until an event, if they go as the old ones did, of which the
/// phases are known.
pub(super) fn follow(
    tape: &Tape<'_>,
    phases: &[PhaseStart],
    new: &[u32],
    until: u32,
    old: &[u32],
) -> Option<Vec<PhaseStart>> {
    let next = old.get(new.len()).map(|&id| tape.birth(id));
    let old = old.get(..new.len()).filter(|old| MIN_BIRTHS <= old.len())?;
    let fit = Fit::of(tape, new, old);
    let most = |count: usize| is_most(count, new.len());
    let start = |phase, id: u32| PhaseStart { event: EventIx(tape.birth(id)), phase };
    let first = *new.first()?;
    if !most(fit.same) {
        let is_dropped = most(fit.alike) && MIN_BIRTHS <= fit.kept[1] && fit.kept[0] <= fit.kept[1] / 2;
        return is_dropped.then(|| vec![start(Phase::Eval, first)]);
    }
    let phase_of = |event: u32| phase_at(phases, event);
    let mut out = copied(tape, phases, new, old);
    // What is given back after the last of them shows how far it is.
    let (last, old_last) = (tape.birth(*new.last()?), tape.birth(*old.last()?));
    let is_death = |&event: &u32| matches!(tape.at(event), Mark::Death(_));
    let given_back = (last..until).filter(is_death).count();
    let until_next = next.unwrap_or_else(|| tape.len());
    let reached = (old_last..until_next).filter(is_death).take(given_back).last();
    let phase = reached.map_or_else(|| phase_of(old_last), phase_of);
    if out.last().is_some_and(|last| last.phase != phase) {
        out.push(PhaseStart { event: EventIx(until.saturating_sub(1)), phase });
    }
    out.last().is_some_and(|last| last.phase != Phase::Unknown).then_some(out)
}

/// Whether two stretches go together, as far as the shorter of them goes.
pub(super) fn are_alike(tape: &Tape<'_>, some: &[u32], others: &[u32]) -> bool {
    let count = some.len().min(others.len());
    let (some, others) = (some.get(..count).unwrap_or_default(), others.get(..count).unwrap_or_default());
    MIN_BIRTHS <= count && is_most(Fit::of(tape, some, others).same, count)
}

/// The phases of a batch that goes like an earlier one before the same step. Its gradients are added to those that
/// are there, so what is kept of it may differ.
pub(super) fn repeat(
    tape: &Tape<'_>,
    phases: &[PhaseStart],
    new: &[u32],
    old: &[u32],
) -> Option<Vec<PhaseStart>> {
    let old = old.get(..new.len()).filter(|old| MIN_BIRTHS <= old.len())?;
    let fit = Fit::of(tape, new, old);
    is_most(fit.alike, new.len()).then(|| copied(tape, phases, new, old))
}

fn copied(tape: &Tape<'_>, phases: &[PhaseStart], new: &[u32], old: &[u32]) -> Vec<PhaseStart> {
    let mut out: Vec<PhaseStart> = Vec::new();
    for (&new, &old) in new.iter().zip(old) {
        let phase = phase_at(phases, tape.birth(old));
        if out.last().is_none_or(|last| last.phase != phase) {
            out.push(PhaseStart { event: EventIx(tape.birth(new)), phase });
        }
    }
    out
}

fn phase_at(phases: &[PhaseStart], event: u32) -> Phase {
    start_at(phases, event).map_or(Phase::Unknown, |start| start.phase)
}
