//! The search for plans among degrees and combinations of what was tried alone.

use super::enough::{Enough, is_sure};
use super::{One, cheaper, is_better};
use crate::offer::{Combination, Offer, Part, price};
use crate::trials::Trials;
use crate::tried::{Needed, changed};
use crate::validator::{Failed, Recorded};
use oomscope_simulator::Profile;
use rayon::prelude::*;

/// As many remedies together make a plan, at most.
const MOST_TOGETHER: usize = 3;

/// Replays of as many events in all, at most: some seconds.
const EVENTS: usize = 10_000_000;

/// Replays, at least and at most.
const REPLAYS: (usize, usize) = (8, 160);

/// As many are tried at once, before it is asked again what is still worth it.
const AT_ONCE: usize = 8;

/// Something to do: one remedy, or the degrees of one, the lowest first.
struct Choice<'o, 'a> {
    degrees: Vec<&'o Offer<'a>>,
    /// What the furthest of them needs in each stretch.
    profile: Profile,
    /// Whether it was tried alone.
    is_tried: bool,
    /// Whether it stops what grows with each iteration.
    stops_growth: bool,
}

impl Choice<'_, '_> {
    fn has_degrees(&self) -> bool {
        1 < self.degrees.len()
    }

    fn part(&self) -> Option<Part> {
        self.degrees.first().map(|offer| offer.part)
    }
}

/// Several of them, each for another part of the program.
type Candidate<'c, 'o, 'a> = Vec<&'c Choice<'o, 'a>>;

/// Find further changes that surely fit: the lowest degree of a remedy that has many, alone and with others, and several together.
///
/// They are tried from the cheapest on. Nothing is tried that a plan makes needless, or of which the parts together would not save
/// enough, each what it saves alone: together, they mostly save less.
pub(crate) fn search<'o, 'a>(
    trials: &Trials<'_, '_>,
    enough: &Enough<'_, '_>,
    rungs: &'o [Offer<'a>],
    tried: &[One<'o, 'a>],
) -> Vec<One<'o, 'a>> {
    let recorded = trials.recorded;
    let is_plan = |one: &One<'_, '_>| is_sure_figure(&recorded, one) && enough.lasts(one);
    let Some(limit) = recorded.baseline.limit_bytes else { return Vec::new() };
    let choices = choices(&recorded, enough, rungs, tried);
    let mut candidates = candidates(&choices);
    candidates.sort_by(|a, b| cheaper(&first(a), &first(b)));
    let baseline = &recorded.baseline.profile;
    let may_fit = |candidate: &Candidate<'_, '_, '_>| {
        baseline.with_all(candidate.iter().map(|choice| &choice.profile)).peak_bytes() <= limit
            && (!enough.has_growth() || candidate.iter().any(|choice| choice.stops_growth))
    };
    let mut sure: Vec<Combination<'o, 'a>> =
        tried.iter().filter(|one| is_plan(one)).map(|(combination, _)| combination.clone()).collect();
    let mut found = Vec::new();
    let mut replays = (EVENTS / recorded.program.timeline().events.len().max(1)).clamp(REPLAYS.0, REPLAYS.1);
    let is_known = |candidate: &Candidate<'_, '_, '_>| {
        candidate.iter().all(|choice| choice.is_tried) && is_among(tried, &first(candidate))
    };
    let mut open = candidates.into_iter().filter(|one| !is_known(one) && may_fit(one)).peekable();
    while 0 < replays && open.peek().is_some() {
        let is_open = |candidate: &Candidate<'_, 'o, 'a>| {
            let first = first(candidate);
            !sure.iter().any(|plan| is_better(plan, &first))
        };
        let group: Vec<Candidate<'_, 'o, 'a>> =
            open.by_ref().filter(is_open).take(AT_ONCE.min(replays)).collect();
        replays = replays.saturating_sub(group.iter().map(|candidate| replays_of(candidate)).sum());
        let settled = group.into_par_iter().map(|candidate| settled(trials, &candidate)).collect::<Vec<_>>();
        for one in settled.into_iter().flatten().filter(is_plan) {
            sure.push(one.0.clone());
            found.push(one);
        }
    }
    found
}

/// The lowest degree with which some remedies surely fit together; `None` if no degree does.
pub(crate) fn lowest<'o, 'a>(
    trials: &Trials<'_, '_>,
    others: &[&'o Offer<'a>],
    rungs: &[&'o Offer<'a>],
) -> Option<One<'o, 'a>> {
    let attempt = |rung: &'o Offer<'a>| {
        let combination = in_order(others, rung);
        sure(trials, combination)
    };
    // Of more than half of them, less may be known.
    let (mut low, mut best) = (0, None);
    let mut high = rungs.len();
    for most in [rungs.len(), rungs.len().div_ceil(2)] {
        if best.is_none()
            && let Some(rung) = most.checked_sub(1).and_then(|index| rungs.get(index))
        {
            (best, high) = (attempt(rung), most);
        }
    }
    let mut best = best?;
    while low + 1 < high {
        let middle = low.midpoint(high);
        match attempt(rungs[middle - 1]) {
            Some(one) => (best, high) = (one, middle),
            None => low = middle,
        }
    }
    Some(best)
}

/// What became of a candidate: of several degrees, the lowest that surely fits.
fn settled<'o, 'a>(trials: &Trials<'_, '_>, candidate: &Candidate<'_, 'o, 'a>) -> Option<One<'o, 'a>> {
    let (with_degrees, alone): (Vec<&Choice<'o, 'a>>, Vec<&Choice<'o, 'a>>) =
        candidate.iter().copied().partition(|choice| choice.has_degrees());
    let mut others: Combination<'o, 'a> =
        alone.iter().flat_map(|choice| choice.degrees.iter().copied()).collect();
    others.sort_by_key(|offer| offer.place);
    match with_degrees.first() {
        Some(choice) => lowest(trials, &others, &choice.degrees),
        None => sure(trials, others),
    }
}

/// What became of some remedies together, if that surely fits. Reserved is at least what is requested: where that is too much, even if it
/// is only off as far as it may be, nothing is replayed.
fn sure<'o, 'a>(trials: &Trials<'_, '_>, combination: Combination<'o, 'a>) -> Option<One<'o, 'a>> {
    let recorded = trials.recorded;
    let limit = recorded.baseline.limit_bytes.map_or(f64::INFINITY, |limit| limit as f64);
    let most_requested = limit / (1.0 + recorded.error(&combination).unwrap_or(0.0));
    let one = trials.one(combination, Needed::Fit(most_requested as u64))?;
    is_sure_figure(&recorded, &one).then_some(one)
}

/// As many replays are needed for a candidate, at most.
fn replays_of(candidate: &Candidate<'_, '_, '_>) -> usize {
    candidate.iter().map(|choice| choice.degrees.len().max(1).ilog2() as usize).sum::<usize>() + 1
}

/// A rung among other remedies, in the order in which they are applied.
fn in_order<'o, 'a>(others: &[&'o Offer<'a>], rung: &'o Offer<'a>) -> Combination<'o, 'a> {
    let mut all: Combination<'o, 'a> = others.iter().copied().chain([rung]).collect();
    all.sort_by_key(|offer| offer.place);
    all
}

/// The cheapest that a candidate may come to.
fn first<'o, 'a>(candidate: &Candidate<'_, 'o, 'a>) -> Combination<'o, 'a> {
    candidate.iter().filter_map(|choice| choice.degrees.first().copied()).collect()
}

/// Whether some remedies were tried together.
fn is_among(tried: &[One<'_, '_>], combination: &Combination<'_, '_>) -> bool {
    let has_all = |known: &Combination<'_, '_>| {
        known.len() == combination.len()
            && known.iter().all(|offer| combination.iter().any(|other| other.place == offer.place))
    };
    tried.iter().any(|(known, _)| has_all(known))
}

/// Whether what was tried surely fits, and is no bound.
fn is_sure_figure(recorded: &Recorded<'_, '_>, one: &One<'_, '_>) -> bool {
    is_sure(recorded, &one.0, &one.1) && !recorded.fails(Failed::Bound, one)
}

/// What may be a part of a plan: each remedy that changes something and is no bound, of settings the best; degrees in place of
/// others for the same part, but for those that use the host.
fn choices<'o, 'a>(
    recorded: &Recorded<'_, '_>,
    enough: &Enough<'_, '_>,
    rungs: &'o [Offer<'a>],
    tried: &[One<'o, 'a>],
) -> Vec<Choice<'o, 'a>> {
    let mut all: Vec<Choice<'o, 'a>> = Vec::new();
    for degrees in rungs.chunk_by(|a, b| a.id == b.id) {
        if let Some(last) = degrees.last() {
            let profile = changed(recorded.program, &[last]).sums().1;
            all.push(Choice {
                degrees: degrees.iter().collect(),
                profile,
                is_tried: false,
                stops_growth: false,
            });
        }
    }
    let has_degrees: Vec<Option<Part>> =
        all.iter().filter(|choice| choice.has_degrees()).map(Choice::part).collect();
    // Few parts of a batch are tried with the degrees of another.
    let is_of_degrees = |offers: &Combination<'_, '_>| {
        let part = offers.first().map(|offer| offer.part);
        part != Some(Part::Batch) && has_degrees.contains(&part)
    };
    let before = recorded.baseline;
    let best_setting = tried
        .iter()
        .filter(|(offers, tried)| {
            is_of(offers, Part::Settings) && tried.figures.peak_reserved < before.figures.peak_reserved
        })
        .min_by_key(|(_, tried)| tried.figures.peak_reserved);
    let others = tried.iter().filter(|one| {
        let (offers, tried) = one;
        offers.len() == 1
            && !is_of(offers, Part::Settings)
            && (price(offers).crosses_bus() || !is_of_degrees(offers))
            && tried.profile != before.profile
            && !recorded.fails(Failed::Bound, one)
    });
    all.extend(others.chain(best_setting).map(|one| Choice {
        degrees: one.0.clone(),
        profile: one.1.profile.clone(),
        is_tried: true,
        stops_growth: enough.stops_growth(one),
    }));
    all
}

fn is_batch(choice: &Choice<'_, '_>) -> bool {
    choice.part() == Some(Part::Batch)
}

fn is_of(offers: &Combination<'_, '_>, part: Part) -> bool {
    offers.iter().any(|offer| offer.part == part)
}

/// Degrees alone, and all twos and threes of different parts. Of one of them alone all degrees are tried: with those of another, a batch
/// in two, four or eight parts.
fn candidates<'c, 'o, 'a>(choices: &'c [Choice<'o, 'a>]) -> Vec<Candidate<'c, 'o, 'a>> {
    let mut all: Vec<(usize, Candidate<'c, 'o, 'a>)> = vec![(0, Vec::new())];
    let mut at = 0;
    while let Some((next, candidate)) = all.get(at).cloned() {
        at += 1;
        if candidate.len() == MOST_TOGETHER {
            continue;
        }
        for (index, choice) in choices.iter().enumerate().skip(next) {
            if candidate.iter().all(|other| other.part() != choice.part()) {
                let mut larger = candidate.clone();
                larger.push(choice);
                all.push((index + 1, larger));
            }
        }
    }
    let is_new = |candidate: &Candidate<'_, '_, '_>| {
        1 < candidate.len() || candidate.iter().any(|choice| !choice.is_tried)
    };
    let has_micro_batches = choices.iter().any(|choice| is_batch(choice) && choice.has_degrees());
    let is_one_search = |candidate: &Candidate<'_, '_, '_>| {
        let of_batch = candidate.iter().find(|choice| is_batch(choice));
        let others = candidate.iter().any(|choice| !is_batch(choice) && choice.has_degrees());
        of_batch.is_none_or(|choice| !has_micro_batches || choice.has_degrees() != others)
    };
    all.into_iter().map(|(_, candidate)| candidate).filter(|one| is_new(one) && is_one_search(one)).collect()
}
