//! Plans: the changes that are enough, of which none is better than another in everything.

mod enough;
mod search;

pub(super) use enough::Enough;
pub(super) use search::{lowest, search};

use super::offer::{Combination, degree, effort, is_conditional, price};
use super::outcome::{Postponed, Prediction};
use super::tried::Tried;
use super::validator::{Failed, Recorded};
use std::cmp::{Ordering, Reverse};

/// As many plans are told, at most.
const MAX_PLANS: usize = 5;

/// A combination with what became of it.
type One<'o, 'a> = (Combination<'o, 'a>, Tried);

/// The plans for a program that does not fit.
#[derive(Default)]
pub(super) struct Plans {
    /// Their indices, the cheapest first.
    pub(super) enough: Vec<usize>,
    /// Where there is none: what fits for now, the cheapest first.
    pub(super) for_now: Vec<usize>,
    /// What fitting for now is called.
    kind: Option<fn(usize) -> Postponed>,
}

impl Plans {
    /// Choose among all that was tried. What fits even if it is off as far as it may be leaves the rest out. Bounds are no
    /// predictions, and never among them.
    pub(super) fn of(recorded: &Recorded<'_, '_>, enough: &Enough<'_, '_>, all: &[One<'_, '_>]) -> Self {
        let mut fitting: Vec<usize> =
            (0..all.len()).filter(|&index| all[index].1.fits() == Some(true)).collect();
        // Of what costs the same, that with most to spare comes first.
        fitting.sort_by(|&a, &b| {
            let (a, b) = (&all[a], &all[b]);
            cheaper(&a.0, &b.0).then_with(|| Reverse(a.1.margin).cmp(&Reverse(b.1.margin)))
        });
        let (bounds, known): (Vec<usize>, Vec<usize>) =
            fitting.into_iter().partition(|&index| recorded.fails(Failed::Bound, &all[index]));
        let lasting: Vec<usize> = known.iter().copied().filter(|&index| enough.lasts(&all[index])).collect();
        let sure: Vec<usize> = lasting.iter().copied().filter(|&index| enough.is_sure(&all[index])).collect();
        let plans = cheapest(all, if sure.is_empty() { lasting } else { sure });
        if !plans.is_empty() {
            return Self { enough: plans, ..Self::default() };
        }
        if let Some(bound) = bounds.into_iter().find(|&index| enough.lasts(&all[index])) {
            return Self { enough: plans, for_now: vec![bound], kind: Some(Postponed::Bound) };
        }
        let kind = if enough.has_growth() { Postponed::Leak } else { Postponed::Little };
        Self { enough: plans, for_now: known, kind: Some(kind) }
    }

    /// The one of those that fit for now that is named: of the best few, which have rows of their own, or else of all, the one that
    /// goes on longest, and of equals the cheapest.
    pub(super) fn postponed(&self, best: &[usize], remedies: &[Prediction]) -> Option<Postponed> {
        let fit_best: Vec<usize> =
            self.for_now.iter().copied().filter(|index| best.contains(index)).collect();
        let among = if fit_best.is_empty() { &self.for_now } else { &fit_best };
        let last = |index: usize| remedies.get(index)?.fits_until_turn.map(|turn| turn.number);
        let longest = among.iter().copied().rev().max_by_key(|&index| last(index))?;
        self.kind.map(|kind| kind(longest))
    }
}

/// Leave out what something cheaper is better than in everything.
fn cheapest(all: &[One<'_, '_>], sorted: Vec<usize>) -> Vec<usize> {
    let mut plans: Vec<usize> = Vec::new();
    for index in sorted {
        if plans.len() < MAX_PLANS && !plans.iter().any(|&plan| is_better(&all[plan].0, &all[index].0)) {
            plans.push(index);
        }
    }
    plans
}

/// A further remedy has to save as much: what costs less than this many times as much costs about the same.
const ABOUT: u32 = 2;

/// Whether a change that is enough makes another needless. It has no condition that the other does not have and costs no more: at most
/// as much with as many remedies, or about as much with fewer. Of two that cost the same, the second is another way, unless it
/// changes the same parts.
fn is_better(plan: &Combination<'_, '_>, other: &Combination<'_, '_>) -> bool {
    let (a, b) = (price(plan), price(other));
    let costs_no_more = match plan.len().cmp(&other.len()) {
        Ordering::Less => a.is_within(&b, ABOUT),
        Ordering::Equal => {
            let are_same_parts = plan.iter().all(|offer| other.iter().any(|other| other.part == offer.part));
            let is_no_more = a.is_within(&b, 1);
            is_no_more && if are_same_parts { a.passes <= b.passes } else { !b.is_within(&a, 1) }
        }
        Ordering::Greater => false,
    };
    is_conditional(plan) <= is_conditional(other) && costs_no_more
}

/// What asks for less comes first, then fewer remedies, then what has nothing over the bus, no condition in its title, less work and
/// fewer passes, and what goes less far.
fn cheaper(a: &Combination<'_, '_>, b: &Combination<'_, '_>) -> Ordering {
    let (of_a, of_b) = (price(a), price(b));
    let kind =
        |all: &Combination<'_, '_>| (effort(all), all.len(), price(all).crosses_bus(), is_conditional(all));
    kind(a)
        .cmp(&kind(b))
        .then(of_a.more_work.total_cmp(&of_b.more_work))
        .then(of_a.passes.cmp(&of_b.passes))
        .then(degree(a).cmp(&degree(b)))
}
