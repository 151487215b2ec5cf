//! The least change with which a program fits.

use super::leaks::Leak;
use super::offer::{Combination, degree, is_conditional, price};
use super::outcome::Postponed;
use super::tried::Tried;
use super::validator::{Failed, Outlasting, Recorded};
use std::cmp::Reverse;

/// The least change that fits.
#[derive(Default)]
pub(super) struct Least {
    pub(super) least: Option<usize>,
    pub(super) postpones: Option<Postponed>,
}

impl Least {
    /// Prefer what fits even if it is off as far as it may be, then few remedies, then a low price, then those without a condition,
    /// then those that go less far, then headroom. Skip bounds, which are no
    /// predictions, changes that leave a leak, which only delay the failure, and what only gets past a request that failed, which
    /// may fail at the next.
    pub(super) fn of(recorded: &Recorded<'_, '_>, all: &[(Combination<'_, '_>, Tried)]) -> Self {
        let Recorded { scene, program, .. } = *recorded;
        let mut fitting: Vec<usize> =
            (0..all.len()).filter(|&index| all[index].1.fits() == Some(true)).collect();
        fitting.sort_by_key(|&index| {
            let (combination, tried) = &all[index];
            let (price, degree) = (price(combination), degree(combination));
            (combination.len(), price, is_conditional(combination), degree, Reverse(tried.margin))
        });
        let is_bound = |index: &usize| recorded.fails(Failed::Bound, &all[*index]);
        let (bounds, known): (Vec<usize>, Vec<usize>) = fitting.into_iter().partition(is_bound);
        // Where the step is known to its end, so is what grows.
        let leak = scene.projected.is_err().then(|| Leak::of(scene, program)).flatten();
        let stops = |&index: &usize| {
            all[index].1.growth.is_none()
                && leak.as_ref().is_none_or(|leak| leak.is_stopped_by(&all[index].0))
        };
        let outlasting = Outlasting::of(recorded);
        let suffices = |&index: &usize| stops(&index) && outlasting.has(&all[index].1);
        // What fits by less than it may be off may not fit.
        let is_sure = |&index: &usize| {
            let (combination, tried) = &all[index];
            let off = recorded.error(combination).unwrap_or(0.0) * tried.figures.peak_reserved as f64;
            tried.margin.is_some_and(|margin| off <= margin as f64)
        };
        let sure = known.iter().copied().find(|index| is_sure(index) && suffices(index));
        let least = sure.or_else(|| known.iter().copied().find(suffices));
        let bound = bounds.into_iter().find(suffices).map(Postponed::Bound);
        let grows = leak.is_some() || recorded.baseline.growth.is_some();
        let kind = if grows { Postponed::Leak } else { Postponed::Little };
        let postpones = bound.or_else(|| known.first().copied().map(kind)).filter(|_| least.is_none());
        Self { least, postpones }
    }
}
