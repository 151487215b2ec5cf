//! Blocks without stacks from before the recording, or where nothing was recorded: where they lie and how often each size
//! is there.

use super::by_counts;
use super::layout::{Placed, placed};
use super::layout_counts::{Counts, Rounds, counts, rounds};
use super::workspaces;
use super::{Blocks, Category, Claims, RuleId, Verdict, View};
use crate::model::AllocId;
use std::collections::BTreeMap;

/// So many segments may have been made for something else while the parameters were made.
const MOST_OTHERS: usize = 3;

/// Settle them; what no number shows stays unknown.
pub(super) fn settle(view: &View<'_>, ids: &[AllocId], claims: &mut Claims) {
    let ids: Vec<AllocId> = workspaces::without_doubtful(view, ids);
    let (placed, counts, rounds) = look(view, &ids);
    let is_shown = view.order.is_shown();
    if by_counts::settle(&placed, hole_bytes(view), is_shown, claims) {
        return;
    }
    // Which of several blocks of a size are the parameters, only their order tells.
    let Some(rounds) = rounds.filter(|_| is_shown) else { return };
    let mut by_size: BTreeMap<i64, Vec<(usize, Placed)>> = BTreeMap::new();
    for (at, &block) in placed.iter().enumerate() {
        by_size.entry(block.size).or_default().push((at, block));
    }
    for (size, mut blocks) in by_size {
        let Some(own) = counts.get(&size).and_then(|count| count.parameters(rounds.each)) else { continue };
        blocks.sort_by_key(|(at, block)| (!block.is_early, *at));
        let known = Blocks { alike: blocks.len(), known: own, known_as: Category::Parameter };
        let mut later = blocks.split_off(own.min(blocks.len()));
        later.sort_by_key(|(at, _)| *at);
        for (_, block) in &blocks {
            claims.claim_of(block.id, Verdict::new(Category::Parameter, RuleId::LiesFirst), size, known);
        }
        settle_later(&later, own.saturating_mul(rounds.gradients), known, claims);
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
fn look(view: &View<'_>, ids: &[AllocId]) -> (Vec<Placed>, Counts, Option<Rounds>) {
    let look = |patience: usize| {
        let placed = placed(view, ids, patience);
        let counts = counts(&placed);
        let rounds = rounds(&placed, &counts);
        (placed, counts, rounds)
    };
    let explained = |rounds: Option<Rounds>| rounds.map_or(0, |rounds| rounds.explained_bytes);
    let mut best = look(0);
    for patience in 1..=MOST_OTHERS {
        let looked = look(patience);
        let before = explained(best.2);
        if before.saturating_add(before / 2) < explained(looked.2) {
            best = looked;
        }
    }
    best
}

/// Blocks of a parameter's size that are none: so many gradients, and state.
fn settle_later(later: &[(usize, Placed)], gradients: usize, known: Blocks, claims: &mut Claims) {
    // State that was set up for one parameter after the other lies side by side.
    let mut is_paired = vec![false; later.len()];
    let mut at = 0;
    while let (Some((place, block)), Some((next_place, next))) = (later.get(at), later.get(at + 1)) {
        let pairs = place + 1 == *next_place && block.touches(next);
        is_paired[at] |= pairs;
        is_paired[at + 1] |= pairs;
        at += if pairs { 2 } else { 1 };
    }
    let lone = is_paired.iter().filter(|is_paired| !**is_paired).count();
    let all_are_one = gradients == 0 || later.len() <= gradients;
    for ((_, block), is_paired) in later.iter().zip(is_paired) {
        // Where gradients and state are both there, only that tells them apart.
        let category = match is_paired {
            _ if gradients == 0 => Category::OptimizerState,
            _ if all_are_one => Category::Gradient,
            true => Category::OptimizerState,
            false if lone == gradients => Category::Gradient,
            false => continue,
        };
        claims.claim_of(block.id, Verdict::new(category, RuleId::LiesLater), block.size, known);
    }
}
