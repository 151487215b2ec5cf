//! The best remedies, and the pairs of them that are worth a try.

use super::offer::Offer;
use super::tried::Tried;

/// The best of this many are combined, two at a time.
pub(super) const BEST: usize = 4;

/// The most pairs of them.
pub(super) const MAX_PAIRS: usize = BEST * (BEST - 1) / 2;

/// Pairs of the best remedies, which change different parts of the program.
///
/// The peak moves: what saves nothing at the recorded peak may save much once that is lower. So the best are found one
/// after the other, each as the one with which those before it save most, going by what each saves in each stretch.
pub(super) fn pairs<'o, 'a>(
    tried: &[(Vec<&'o Offer<'a>>, Tried)],
    recorded: &Tried,
) -> Vec<Vec<&'o Offer<'a>>> {
    let best = best(tried, recorded);
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
/// hold.
fn best(tried: &[(Vec<&Offer<'_>>, Tried)], recorded: &Tried) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    let mut profile = recorded.profile.clone();
    while chosen.len() < BEST {
        let is_open = |index: &usize| {
            let is_bound = tried[*index].0.iter().any(|offer| offer.is_bound);
            !is_bound && !chosen.iter().any(|&other| is_same_part(&tried[*index].0, &tried[other].0))
        };
        let with = |index: usize| profile.with(&tried[index].1.profile, &recorded.profile);
        let candidates = (0..tried.len()).filter(is_open).map(|index| (with(index), index));
        let next = candidates.min_by_key(|(with, index)| {
            let figures = tried[*index].1.figures;
            (with.peak_bytes(), figures.peak_reserved, figures.peak_requested)
        });
        let Some((with, index)) = next else { break };
        let saves_reserved = tried[index].1.figures.peak_reserved < recorded.figures.peak_reserved;
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
