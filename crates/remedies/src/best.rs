//! The best remedies, the pairs of them that are worth a try, and the few that are shown.

use super::offer::{Effort, Offer, price};
use super::outcome::{Figures, Prediction, Trust, saves};
use super::tried::Tried;
use super::validator::{Failed, Recorded};

/// The best of this many are combined, two at a time.
pub(super) const BEST: usize = 4;

/// The most pairs of them.
pub(super) const MAX_PAIRS: usize = BEST * (BEST - 1) / 2;

/// Pairs of the best remedies, which change different parts of the program.
///
/// The peak moves: what saves nothing at the recorded peak may save much once that is lower. So the best are found one
/// after the other, each as the one with which those before it save most, going by what each saves in each stretch.
pub(super) fn pairs<'o, 'a>(
    recorded: &Recorded<'_, '_>,
    tried: &[(Vec<&'o Offer<'a>>, Tried)],
) -> Vec<Vec<&'o Offer<'a>>> {
    let best = best(recorded, tried);
    let mut pairs = Vec::new();
    for (at, &one) in best.iter().enumerate() {
        for &other in &best[at + 1..] {
            let in_order = [one.min(other), one.max(other)];
            pairs.push(in_order.iter().flat_map(|&index| tried[index].0.iter().copied()).collect());
        }
    }
    pairs
}

/// The indices of the best remedies, each for another part of the program. Bounds are left out: what they promise may not
/// hold. So is what needs the bus, where something else changes the same part.
fn best(recorded: &Recorded<'_, '_>, tried: &[(Vec<&Offer<'_>>, Tried)]) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    let Recorded { baseline, .. } = recorded;
    let mut profile = baseline.profile.clone();
    let is_bound: Vec<bool> = tried.iter().map(|one| recorded.fails(Failed::Bound, one)).collect();
    let needs_bus = |index: usize| price(&tried[index].0).crosses_bus();
    let has_other_way = |index: usize| {
        let is_other = |other: usize| !is_bound[other] && !needs_bus(other);
        (0..tried.len()).any(|other| is_other(other) && is_same_part(&tried[index].0, &tried[other].0))
    };
    while chosen.len() < BEST {
        let is_taken =
            |index: usize| chosen.iter().any(|&other| is_same_part(&tried[index].0, &tried[other].0));
        let is_open = |&index: &usize| {
            let is_left_out = is_bound[index] || (needs_bus(index) && has_other_way(index));
            !is_left_out && !is_taken(index)
        };
        let with = |index: usize| profile.with(&tried[index].1.profile, &baseline.profile);
        let candidates = (0..tried.len()).filter(is_open).map(|index| (with(index), index));
        let next = candidates.min_by_key(|(with, index)| {
            let figures = tried[*index].1.figures;
            (with.peak_bytes(), figures.peak_reserved, figures.peak_requested)
        });
        let Some((with, index)) = next else { break };
        let saves_reserved = tried[index].1.figures.peak_reserved < baseline.figures.peak_reserved;
        if profile.peak_bytes() <= with.peak_bytes() && !saves_reserved {
            break;
        }
        profile = with;
        chosen.push(index);
    }
    chosen
}

fn is_same_part(a: &[&Offer<'_>], b: &[&Offer<'_>]) -> bool {
    a.iter().any(|a| b.iter().any(|b| a.part == b.part))
}

/// As many are shown, at most; the others are there for those who ask.
const SHOWN: usize = 3;

/// Whether a prediction, which is no bound, lowers what is requested by a part that is worth showing.
pub fn is_worth_showing(baseline: Figures, remedy: &Prediction) -> bool {
    remedy.basis == Trust::Simulated && saves(baseline.peak_requested, remedy.figures.peak_requested)
}

/// The indices of the few remedies to show, of some with the best first.
///
/// Each is for another part of the program. Those with the same results come first, by what they
/// save; then those that need the bus, and those with other results. Several at once are among them only where that fits and no
/// single one does. What lowers only what is reserved is no help to a program that does not fit.
pub(super) fn few(baseline: &Tried, remedies: &[Prediction]) -> Vec<usize> {
    let figures = baseline.figures;
    let is_worth = |remedy: &Prediction| {
        is_worth_showing(figures, remedy)
            || (remedy.basis == Trust::Simulated
                && baseline.fits() != Some(false)
                && saves(figures.peak_reserved, remedy.figures.peak_reserved))
    };
    let fits_alone = remedies.iter().any(|remedy| remedy.parts.len() == 1 && remedy.fits == Some(true));
    let is_open = |remedy: &Prediction| {
        let is_whole = remedy.parts.len() == 1 || (!fits_alone && remedy.fits == Some(true));
        is_whole && is_worth(remedy)
    };
    let mut order: Vec<usize> = (0..remedies.len()).filter(|&index| is_open(&remedies[index])).collect();
    order.sort_by_key(|&index| {
        let remedy = &remedies[index];
        let has_results = Effort::Results <= remedy.effort;
        (1 < remedy.parts.len(), has_results, remedy.is_conditional, remedy.price.crosses_bus())
    });
    let mut chosen: Vec<usize> = Vec::new();
    for index in order {
        let is_new =
            |other: &usize| remedies[*other].parts.iter().all(|part| !remedies[index].parts.contains(part));
        if chosen.len() < SHOWN && chosen.iter().all(is_new) {
            chosen.push(index);
        }
    }
    chosen
}
