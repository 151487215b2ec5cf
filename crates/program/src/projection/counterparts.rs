//! Which allocation of the iteration that failed, or of one before it, is that of the earlier one, or of one before that.
//!
//! Two allocations are counterparts if they show the same of what the two iterations have in common, and as many that show it were
//! made before them.

use super::earlier::Earlier;
use super::likeness::{Likeness, Mark};
use super::turns::Turns;
use crate::Run;
use foldhash::{HashMap, HashSet};
use oomscope_model::AllocId;
use std::ops::Range;

/// How many iterations back memory is followed that was made before the two iterations: gradients and results of the last
/// iteration are given back in the next.
const BACK: usize = 2;

/// Pairs of allocations.
#[derive(Debug)]
pub(super) struct Counterparts {
    pairs: HashMap<AllocId, AllocId>,
    /// Those within the two iterations, in order.
    pub(super) in_step: Vec<(AllocId, AllocId)>,
    /// What the earlier iteration made, and the one before it, too; `None` if there was none.
    again: Option<HashSet<AllocId>>,
}

impl Counterparts {
    pub(super) fn of(run: &Run<'_>, turns: &Turns, earlier: &Earlier) -> Self {
        let likeness = earlier.likeness;
        let in_step = pairs(run, &(earlier.events.start..earlier.at.0), &earlier.failed, likeness);
        let mut all: HashMap<AllocId, AllocId> = in_step.iter().copied().collect();
        for back in 1..=BACK {
            if let Some(one) = earlier.index.checked_sub(back)
                && let Some(other) = earlier.failed_index.checked_sub(back)
            {
                all.extend(pairs(run, &turns.events(one), &turns.events(other), likeness));
            }
        }
        let again = earlier.index.checked_sub(1).map(|before| {
            let pairs = pairs(run, &turns.events(before), &earlier.events, likeness);
            pairs.into_iter().map(|(_, id)| id).collect()
        });
        Self { pairs: all, in_step, again }
    }

    /// The counterpart of an allocation of the earlier iteration, or of one before it.
    pub(super) fn get(&self, id: AllocId) -> Option<AllocId> {
        self.pairs.get(&id).copied()
    }

    /// Whether the iteration before the earlier one made an allocation, too; `None` if there was none.
    pub(super) fn is_made_again(&self, id: AllocId) -> Option<bool> {
        self.again.as_ref().map(|again| again.contains(&id))
    }
}

/// The counterparts among what two ranges of events make, in order.
fn pairs(
    run: &Run<'_>,
    theirs: &Range<u32>,
    ours: &Range<u32>,
    likeness: Likeness,
) -> Vec<(AllocId, AllocId)> {
    let ours: HashMap<(Mark, u32), AllocId> = ranked(run, ours, likeness).collect();
    ranked(run, theirs, likeness).filter_map(|(rank, id)| Some((id, *ours.get(&rank)?))).collect()
}

/// What some events make, by its mark and by how much with that mark came before it.
fn ranked(
    run: &Run<'_>,
    events: &Range<u32>,
    likeness: Likeness,
) -> impl Iterator<Item = ((Mark, u32), AllocId)> {
    let mut counts: HashMap<Mark, u32> = HashMap::default();
    run.made_in(events).map(move |id| {
        let mark = likeness.mark(run, id);
        let count = counts.entry(mark).or_default();
        *count += 1;
        ((mark, *count), id)
    })
}
