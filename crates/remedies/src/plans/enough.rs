//! Whether a change is enough: for good, and even if it is off as far as it may be.

use crate::leaks::Leak;
use crate::offer::{Combination, Offer};
use crate::tried::Tried;
use crate::validator::{Outlasting, Recorded};

/// What a change must do to be enough for a program that does not fit.
pub(crate) struct Enough<'s, 'r> {
    recorded: Recorded<'s, 'r>,
    /// The leak that it has to stop.
    leak: Option<Leak<'s>>,
    outlasting: Outlasting<'s, 'r>,
}

impl<'s, 'r> Enough<'s, 'r> {
    /// For a program that does not fit; `None` for others.
    pub(crate) fn of_unfit(recorded: Recorded<'s, 'r>) -> Option<Self> {
        (recorded.baseline.fits() == Some(false)).then(|| Self::of(recorded))
    }

    fn of(recorded: Recorded<'s, 'r>) -> Self {
        let Recorded { scene, program, .. } = recorded;
        // Where the step is known to its end, so is what grows.
        let leak = scene.projected.is_err().then(|| Leak::of(scene, program)).flatten();
        Self { recorded, leak, outlasting: Outlasting::of(recorded) }
    }

    /// Whether the program needs more with each iteration.
    pub(super) fn has_growth(&self) -> bool {
        self.leak.is_some() || self.recorded.baseline.growth.is_some()
    }

    /// Whether what fits goes on to: it stops what grows, and does more than get past a request that failed, which may fail at
    /// the next.
    pub(super) fn lasts(&self, one: &(Combination<'_, '_>, Tried)) -> bool {
        self.stops_growth(one) && self.outlasting.has(&one.1)
    }

    /// Whether it stops what grows, where something does.
    pub(super) fn stops_growth(&self, (combination, tried): &(Combination<'_, '_>, Tried)) -> bool {
        tried.growth.is_none() && self.leak.as_ref().is_none_or(|leak| leak.is_stopped_by(combination))
    }

    /// Whether it fits even if it is off as far as it may be.
    pub(super) fn is_sure(&self, (combination, tried): &(Combination<'_, '_>, Tried)) -> bool {
        is_sure(&self.recorded, combination, tried)
    }
}

/// Whether what was tried fits even if it is off as far as it may be.
pub(super) fn is_sure(recorded: &Recorded<'_, '_>, combination: &[&Offer<'_>], tried: &Tried) -> bool {
    let off = recorded.error(combination).unwrap_or(0.0) * tried.figures.peak_reserved as f64;
    tried.fits() == Some(true) && tried.margin.is_some_and(|margin| off <= margin.as_f64())
}
