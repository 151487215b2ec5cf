//! Blocks without stacks from before the recording, or where nothing was recorded: where they lie and how often each size
//! is there.

use super::by_counts;
use super::layer_caches;
use super::layout::{Placed, placed};
use super::layout_counts::{Counts, Rounds, counts, rounds};
use super::workspaces;
use super::{Blocks, Category, Claims, RuleId, Verdict, View};
use crate::model::AllocId;
use std::collections::BTreeMap;

/// So many segments may have been made for something else while the parameters were made.
const MOST_OTHERS: usize = 3;

/// Settle them; those that do not lie in any segment are left out.
pub(super) fn settle(view: &View<'_>, ids: &[AllocId], claims: &mut Claims) {
    let ids: Vec<AllocId> = workspaces::without_doubtful(view, ids);
    let (placed, counts, rounds) = look(view, &ids);
    if by_counts::settle(&placed, hole_bytes(view), claims) || !rounds.is_even || rounds.each < 2 {
        return;
    }
    // Which of several blocks of a size are the parameters, only their order tells.
    if !view.order.is_shown() {
        return;
    }
    let mut by_size: BTreeMap<i64, Vec<(usize, Placed)>> = BTreeMap::new();
    for (at, &block) in placed.iter().enumerate() {
        by_size.entry(block.size).or_default().push((at, block));
    }
    let is_trained = is_trained(&counts, rounds);
    let mut rest = Vec::new();
    let mut parameters = Vec::new();
    for (size, mut blocks) in by_size {
        let count = counts.get(&size).copied().unwrap_or_default();
        let own = count.parameters(rounds);
        blocks.sort_by_key(|(at, block)| (!block.is_early, *at));
        let mut later = blocks.split_off(own.min(blocks.len()));
        later.sort_by_key(|(at, _)| *at);
        let known = Blocks { alike: count.all, known: own, known_as: Category::Parameter };
        for (_, block) in &blocks {
            claims.claim_of(block.id, Verdict::new(Category::Parameter, RuleId::LiesFirst), size, known);
        }
        if 0 < own {
            parameters.push(own);
        }
        if own == 0 || !is_trained {
            rest.extend(later.iter().map(|(_, block)| *block));
            continue;
        }
        rest.extend(settle_later(&later, own, rounds, claims));
    }
    if !is_trained {
        let rest: Vec<(AllocId, i64)> = rest.iter().map(|block| (block.id, block.size)).collect();
        layer_caches::find(&rest, &parameters, claims);
    }
}

/// What is free between active blocks of the same segment.
fn hole_bytes(view: &View<'_>) -> i64 {
    let table = &view.timeline.segments;
    let mut total = 0i64;
    for segment in &table.segments {
        let mut open = None;
        for block in table.blocks_of(segment) {
            if block.is_active() {
                total = total.saturating_add(open.replace(0).unwrap_or(0));
            } else {
                open = open.map(|bytes: i64| bytes.saturating_add(block.size.max(0)));
            }
        }
    }
    total
}

/// A model that is made on the device leaves a segment or two that are none of its parameters': where that makes
/// numbers even, it was so.
fn look(view: &View<'_>, ids: &[AllocId]) -> (Vec<Placed>, Counts, Rounds) {
    let look = |patience: usize| {
        let placed = placed(view, ids, patience);
        let counts = counts(&placed);
        let rounds = rounds(&placed, &counts);
        (placed, counts, rounds)
    };
    let mut best = look(0);
    for patience in 1..=MOST_OTHERS {
        let looked = look(patience);
        let is_good = looked.2.is_even && 1 < looked.2.each;
        if is_good
            && best.2.explained_bytes.saturating_add(best.2.explained_bytes / 2) < looked.2.explained_bytes
        {
            best = looked;
        }
    }
    best
}

/// Whether there are gradients or state: one more block of a size may be a coincidence.
fn is_trained(counts: &Counts, rounds: Rounds) -> bool {
    let own = counts.values().filter(|count| 0 < count.parameters(rounds));
    let (mut all, mut repeated) = (0, 0);
    for count in own {
        all += 1;
        repeated += usize::from(count.parameters(rounds) < count.all);
    }
    1 < rounds.each || all < 2 * repeated
}

/// Blocks of a parameter's size that are none: gradients and state; gives back what is neither.
fn settle_later(later: &[(usize, Placed)], own: usize, rounds: Rounds, claims: &mut Claims) -> Vec<Placed> {
    let more = later.len().saturating_sub(own.saturating_mul(rounds.each.saturating_sub(1)));
    let gradients = own.saturating_mul(rounds.gradients);
    let gradients = if rounds.rest_is_gradients { gradients + more.min(own) } else { gradients };
    let too_many = if rounds.rest_is_gradients { more.saturating_sub(own) } else { 0 };
    let (later, rest) = later.split_at(later.len().saturating_sub(too_many));
    // State that was set up for one parameter after the other lies side by side.
    let mut is_paired = vec![false; later.len()];
    let mut at = 0;
    while let (Some((place, block)), Some((next_place, next))) = (later.get(at), later.get(at + 1)) {
        let pairs = place + 1 == *next_place && block.touches(next);
        if pairs {
            is_paired[at] = true;
            is_paired[at + 1] = true;
        }
        at += if pairs { 2 } else { 1 };
    }
    let mut order: Vec<usize> = (0..later.len()).rev().collect();
    if rounds.rest_is_gradients {
        order.sort_by_key(|&at| is_paired.get(at).copied().unwrap_or(false));
    } else {
        // Gradients were there before any state.
        order.reverse();
    }
    // Where gradients and state are both there, only what lies side by side tells them apart.
    let lone = is_paired.iter().filter(|is_paired| !**is_paired).count();
    let is_clear = gradients == 0 || later.len() <= gradients || lone == gradients;
    for (rank, at) in order.into_iter().enumerate() {
        if !is_clear && !is_paired.get(at).copied().unwrap_or(false) {
            continue;
        }
        let category = if rank < gradients { Category::Gradient } else { Category::OptimizerState };
        if let Some((_, block)) = later.get(at) {
            let known = Blocks { alike: own + later.len(), known: own, known_as: Category::Parameter };
            claims.claim_of(block.id, Verdict::new(category, RuleId::LiesLater), block.size, known);
        }
    }
    rest.iter().map(|(_, block)| *block).collect()
}
