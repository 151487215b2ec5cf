//! Plans: the changes that are enough, of which none is better than another in everything.

mod enough;
mod search;

pub(super) use enough::Enough;
pub(super) use search::{lowest, search};

use super::offer::{Combination, degree, effort, is_conditional, price};
use super::outcome::Postponed;
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
    pub(super) plans: Vec<usize>,
    /// Where there is none: what fits for now.
    pub(super) postpones: Option<Postponed>,
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
            return Self { plans, postpones: None };
        }
        let bound = bounds.into_iter().find(|&index| enough.lasts(&all[index])).map(Postponed::Bound);
        let kind = if enough.has_growth() { Postponed::Leak } else { Postponed::Little };
        Self { plans, postpones: bound.or_else(|| known.first().copied().map(kind)) }
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
