//! An earlier iteration that came further than the one in which a request failed, or an earlier call of a model.

use super::failure::Failure;
use super::likeness::{Likeness, Mark};
use super::turns::Turns;
use crate::Run;
use crate::share::{MUCH, NEARLY_ALL};
use foldhash::HashMap;
use oomscope_analysis::Category;
use oomscope_model::{AllocId, EventIx, Moment};
use std::ops::Range;

/// An iteration that came further, or a call.
#[derive(Debug, Clone)]
pub(super) struct Earlier {
    /// Its index among its like.
    pub(super) index: usize,
    /// Its events.
    pub(super) events: Range<u32>,
    /// The event in it that made what the failed request asked for.
    pub(super) at: EventIx,
    /// The index of the one that failed, and its events before the failure.
    pub(super) failed_index: usize,
    pub(super) failed: Range<u32>,
    /// What allocations of the two have in common.
    pub(super) likeness: Likeness,
    /// How much of what both asked for up to the failure is the same.
    pub(super) alike: Alike,
}

impl Earlier {
    /// The one that is most like the failed one up to the failure, the latest of several.
    pub(super) fn find(run: &Run<'_>, failure: &Failure, turns: &Turns) -> Option<Self> {
        let (failed_index, _) = turns.last_and_earlier()?;
        let failed = turns.events(failed_index);
        let mut best: Option<Self> = None;
        for likeness in Likeness::ALL {
            let asked = Asked::of(run, failure, &failed, likeness);
            for index in turns.last_and_earlier()?.1 {
                let events = turns.events(index);
                let Some((alike, id)) = asked.most_alike(run, &events) else { continue };
                let Some(at) = run.recording.lifetimes.start(id).event() else { continue };
                if best.as_ref().is_none_or(|best| best.alike.is_less(alike)) {
                    let failed = failed.clone();
                    best = Some(Self { index, events, at, failed_index, failed, likeness, alike });
                }
            }
            if best.as_ref().is_some_and(|best| NEARLY_ALL.is_reached(best.alike.both, best.alike.all)) {
                break;
            }
        }
        best.filter(|best| NEARLY_ALL.is_reached(best.alike.both, best.alike.all))
            .filter(|best| has_same_model(run, best, failure))
    }
}

/// Whether the parameters are still those of the earlier iteration, but for a few.
fn has_same_model(run: &Run<'_>, earlier: &Earlier, failure: &Failure) -> bool {
    let (mut new, mut all) = (0u64, 0u64);
    for id in run.recording.lifetimes.live_at(Moment(failure.event.0)) {
        if run.category(id) == Category::Parameter {
            let is_new = earlier.events.end < run.recording.lifetimes.start(id).0;
            new = new.saturating_add(if is_new { run.bytes(id) } else { 0 });
            all = all.saturating_add(run.bytes(id));
        }
    }
    !MUCH.is_reached(new, all)
}

/// How much two sequences have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Alike {
    /// What is in both, counted for each.
    pub(super) both: u64,
    /// All that is in either.
    pub(super) all: u64,
}

impl Alike {
    /// The share of what is in both, from 0 to 1.
    pub(super) fn share(self) -> f64 {
        self.both as f64 / self.all.max(1) as f64
    }

    fn is_less(self, other: Self) -> bool {
        u128::from(self.both) * u128::from(other.all) < u128::from(other.both) * u128::from(self.all)
    }
}

/// How often the iteration that failed asked for what.
struct Asked {
    likeness: Likeness,
    failed: Mark,
    counts: HashMap<Mark, u32>,
    all: u32,
}

impl Asked {
    fn of(run: &Run<'_>, failure: &Failure, events: &Range<u32>, likeness: Likeness) -> Self {
        let failed = likeness.mark_of_failed(run, failure.event);
        let mut out = Self { likeness, failed, counts: HashMap::default(), all: 0 };
        for id in run.made_in(events) {
            *out.counts.entry(likeness.mark(run, id)).or_default() += 1;
            out.all += 1;
        }
        out
    }

    /// The allocation in another iteration that is like the failed request, and before which it asked for most of what this one
    /// did.
    fn most_alike(&self, run: &Run<'_>, events: &Range<u32>) -> Option<(Alike, AllocId)> {
        let mut left = self.counts.clone();
        let mut both = 0;
        let mut best: Option<(Alike, AllocId)> = None;
        for (before, id) in run.made_in(events).enumerate() {
            let mark = self.likeness.mark(run, id);
            if mark == self.failed {
                // The failed request counts, so that two that begin with it are alike.
                let alike = Alike { both: 2 * (both + 1), all: u64::from(self.all) + before as u64 + 2 };
                if best.is_none_or(|(most, _)| most.is_less(alike)) {
                    best = Some((alike, id));
                }
            }
            if let Some(left) = left.get_mut(&mark).filter(|left| **left != 0) {
                *left -= 1;
                both += 1;
            }
        }
        best
    }
}
