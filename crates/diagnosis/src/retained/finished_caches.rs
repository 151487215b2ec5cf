//! Caches of keys and values whose generation is over.
//!
//! A cache grows by design while the generation runs that fills it. When the bytes that calls add to their caches fall, the
//! next generation has begun, or its first call is over: one that concatenates starts over with a short cache, and one that
//! appends has put in the prompt and goes on token by token.

use super::replaced_caches::ReplacedCaches;
use crate::case::Case;
use oomscope_analysis::Category;
use oomscope_model::{AllocId, Allocation, Bytes};

/// Shows which caches no running generation fills.
pub(super) struct FinishedCaches {
    /// Caches of repetitions before this one are over.
    over_before: usize,
    /// Caches that were concatenated, and that the calls since have left alone.
    replaced: ReplacedCaches,
}

impl FinishedCaches {
    pub(super) fn of(case: &Case<'_>, current: usize) -> Self {
        if case.bytes_of(Category::KvCache) == 0 {
            return Self { over_before: 0, replaced: ReplacedCaches::default() };
        }
        let added = added_by_repetition(case);
        let fall = added.windows(2).rfind(|pair| pair[1].1 < pair[0].1);
        // The repetition before the fall may be the prompt of the generation that runs.
        let over_before = fall.map_or(0, |pair| pair[0].0);
        Self { over_before, replaced: ReplacedCaches::of(case, current) }
    }

    /// Whether an allocation is a part of a cache that no generation fills any more.
    pub(super) fn contains(&self, case: &Case<'_>, a: &Allocation) -> bool {
        case.category(a.id) == Category::KvCache
            && (case.repetition_of(a).is_some_and(|repetition| repetition < self.over_before)
                || self.replaced.contains(case, a))
    }
}

/// Bytes of caches that each repetition allocated, in order, without repetitions that allocated none.
fn added_by_repetition(case: &Case<'_>) -> Vec<(usize, Bytes)> {
    let timeline = case.recording.timeline();
    let is_cache = |id: &AllocId| case.category(*id) == Category::KvCache;
    let mut added: Vec<(usize, Bytes)> = Vec::new();
    for id in timeline.ids().filter(is_cache) {
        let start = timeline.lifetimes.start(id);
        let Some(index) = case.repetitions.index_at(start).filter(|_| start <= case.moment) else { continue };
        match added.last_mut().filter(|(last, _)| *last == index) {
            Some((_, bytes)) => *bytes += timeline.size(id),
            None => added.push((index, timeline.size(id))),
        }
    }
    added
}
