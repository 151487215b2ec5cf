//! Trials of combinations of offers, one after another or several at once, as long as anybody wants them.

use super::offer::Combination;
use super::tried::{Needed, Tried};
use super::validator::{Failed, Recorded};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Told how many remedies have been tried, and of how many. If it returns false, those that are still to come are left out.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) -> bool + Sync);

/// Trials of many combinations.
pub(super) struct Trials<'s, 'r> {
    pub(super) recorded: Recorded<'s, 'r>,
    done: AtomicUsize,
    total: usize,
    progress: Progress<'s>,
}

impl<'s, 'r> Trials<'s, 'r> {
    /// Trials of so many combinations.
    pub(super) fn new(recorded: Recorded<'s, 'r>, total: usize, progress: Progress<'s>) -> Self {
        Self { recorded, done: AtomicUsize::new(0), total, progress }
    }

    /// Try combinations, in parallel. The outcomes are in the same order.
    pub(super) fn run<'o, 'a>(
        &self,
        combinations: Vec<Combination<'o, 'a>>,
    ) -> Vec<(Combination<'o, 'a>, Tried)> {
        let attempt = |combination: Combination<'o, 'a>| {
            let tried = self.one(combination, Needed::Figures);
            self.done.fetch_add(1, Ordering::Relaxed);
            self.is_wanted();
            tried
        };
        combinations.into_par_iter().filter_map(attempt).collect()
    }

    /// Try a combination; `None` if its prediction cannot be, is not what is needed, or none is wanted any more.
    pub(super) fn one<'o, 'a>(
        &self,
        combination: Combination<'o, 'a>,
        needed: Needed,
    ) -> Option<(Combination<'o, 'a>, Tried)> {
        if !self.is_wanted() {
            return None;
        }
        let Recorded { scene, program, baseline } = self.recorded;
        let tried = Tried::of(scene, program, baseline, &combination, needed)?;
        Some((combination, tried)).filter(|one| !self.recorded.fails(Failed::Dropped, one))
    }

    /// Say that all were tried.
    pub(super) fn finish(&self) {
        (self.progress)(self.total, self.total);
    }

    /// Say how many were tried, and ask whether to go on.
    fn is_wanted(&self) -> bool {
        (self.progress)(self.done.load(Ordering::Relaxed).min(self.total), self.total)
    }
}
