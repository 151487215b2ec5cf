//! Which allocation of the iteration that failed, or of one before it, is that of the earlier one, or of one before that.
//!
//! What two iterations ask for is compared as two versions of a text are, so that what one of them alone has moves nothing else.

use super::earlier::Earlier;
use super::failure::Failure;
use super::likeness::{Likeness, Mark};
use crate::model::{AllocId, Moment};
use crate::program::Run;
use foldhash::{HashMap, HashSet};
use imara_diff::{Algorithm, Diff, InternedInput, Interner};
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
    pub(super) fn of(run: &Run<'_>, failure: &Failure, earlier: &Earlier) -> Self {
        let iterations = &run.attribution.phases.iterations.list;
        let events = |index: usize| {
            let Moment(end) = iterations[index].end;
            iterations[index].start.0..end.min(failure.event.0)
        };
        let likeness = earlier.likeness;
        let in_step = pairs(run, &(earlier.events.start..earlier.at.0), &earlier.failed, likeness);
        let mut all: HashMap<AllocId, AllocId> = in_step.iter().copied().collect();
        for back in 1..=BACK {
            if let Some(one) = earlier.index.checked_sub(back)
                && let Some(other) = earlier.failed_index.checked_sub(back)
            {
                all.extend(pairs(run, &events(one), &events(other), likeness));
            }
        }
        let again = earlier.index.checked_sub(1).map(|before| {
            let pairs = pairs(run, &events(before), &earlier.events, likeness);
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
    let [theirs, ours]: [Vec<AllocId>; 2] = [theirs, ours].map(|events| run.made_in(events).collect());
    let interner = Interner::new(theirs.len());
    let mut input: InternedInput<Mark> = InternedInput { before: Vec::new(), after: Vec::new(), interner };
    let mark = |&id: &AllocId| likeness.mark(run, id);
    input.update_before(theirs.iter().map(mark));
    input.update_after(ours.iter().map(mark));
    let diff = Diff::compute(Algorithm::Histogram, &input);
    let is_same_before = (0..theirs.len() as u32).filter(|&at| !diff.is_removed(at));
    let is_same_after = (0..ours.len() as u32).filter(|&at| !diff.is_added(at));
    is_same_before.zip(is_same_after).map(|(a, b)| (theirs[a as usize], ours[b as usize])).collect()
}
