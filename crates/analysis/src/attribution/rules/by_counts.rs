//! State alone, where nothing shows which addresses are older: how often each size is there.
//!
//! Training keeps equally many blocks of a parameter's size for each parameter. A model that only infers has sizes that are
//! there once, and others once or more in each of its layers.

use super::placed_blocks::{PlacedBlock, PlacedBySize};
use crate::attribution::claims::{Blocks, Claims, Verdict};
use crate::attribution::thresholds::{
    ADAM_BLOCKS, MAX_BLOCKS_PER_PARAMETER, MIN_AGREEING, NEGLIGIBLE_PART, OUTSIDE_PART, is_nearly_all,
};
use crate::attribution::{Category, RuleId};
use oomscope_model::Bytes;
use std::collections::BTreeMap;

/// In a model that is not trained, a size of a parameter that is in no layer is there at most this often.
const MAX_OUTSIDE_LAYERS: usize = 2;

/// Claim blocks, in the order of their addresses; `hole_bytes` is free between them. Returns whether they could be told.
/// Where the order of addresses is shown, it tells more than one number for all.
pub(super) fn claim(
    placed: &[PlacedBlock],
    by_size: &PlacedBySize,
    hole_bytes: Bytes,
    is_order_shown: bool,
    claims: &mut Claims,
) -> bool {
    let total = bytes(by_size);
    let matters = |size: Bytes, count: usize| total / NEGLIGIBLE_PART < size * (count as i64);
    let counts: Vec<usize> = by_size
        .iter()
        .filter(|(size, blocks)| matters(**size, blocks.len()))
        .map(|(_, blocks)| blocks.len())
        .collect();
    let divisor = counts.iter().copied().fold(0, gcd);
    // A multiple of three may be parameters, gradients and momentum, or Adam without gradients.
    let is_training = 0 < divisor && divisor.is_multiple_of(ADAM_BLOCKS) && !divisor.is_multiple_of(3);
    let has_many_sizes = MIN_AGREEING <= counts.len();
    if !is_order_shown && is_training && has_many_sizes && !are_equal_layers(placed, divisor) {
        claim_training(by_size, claims);
        return true;
    }
    let layers = counts.iter().copied().filter(|&count| MAX_OUTSIDE_LAYERS < count).min().unwrap_or(0);
    let fits = |count: &usize| *count <= MAX_OUTSIDE_LAYERS || count % layers.max(1) <= MAX_OUTSIDE_LAYERS;
    // Fewer layers may be as many as training keeps blocks.
    let is_model = counts.contains(&1) && MAX_BLOCKS_PER_PARAMETER < layers && counts.iter().all(fits);
    // Activations leave holes between them; weights that are loaded leave few.
    if is_model && hole_bytes <= total / OUTSIDE_PART {
        claim_layers(placed, by_size, layers, claims);
        return true;
    }
    false
}

/// Whether the sizes come again and again in the same order, as those of equal layers do: state comes tensor beside tensor,
/// and gradients from the last parameter on.
fn are_equal_layers(placed: &[PlacedBlock], divisor: usize) -> bool {
    let large = large_sizes(placed);
    let repeat = |parts: usize| {
        let later = large.get(large.len() / parts..).unwrap_or_default();
        let alike = large.iter().zip(later).filter(|(a, b)| a == b).count();
        is_nearly_all(alike, later.len())
    };
    (2..=divisor).filter(|&parts| divisor.is_multiple_of(parts)).any(repeat)
}

fn large_sizes(placed: &[PlacedBlock]) -> Vec<Bytes> {
    placed.iter().filter(|block| !block.is_small).map(|block| block.size).collect()
}

fn bytes(by_size: &PlacedBySize) -> Bytes {
    let each = by_size.iter().map(|(size, blocks)| size.or_zero() * (blocks.len() as i64));
    each.sum::<Bytes>()
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Claim a gradient for each parameter, and its state in two tensors. Which of the blocks is which is not known; how many
/// there are of each is.
fn claim_training(by_size: &PlacedBySize, claims: &mut Claims) {
    for (&size, blocks) in by_size.iter().filter(|(_, blocks)| blocks.len().is_multiple_of(ADAM_BLOCKS)) {
        let own = blocks.len() / ADAM_BLOCKS;
        let known = Blocks { alike: blocks.len(), known: own, known_as: Category::Parameter };
        for (at, block) in blocks.iter().enumerate() {
            let category = match at {
                _ if at < own => Category::Parameter,
                _ if at < 2 * own => Category::Gradient,
                _ => Category::OptimizerState,
            };
            claims.claim_with_blocks(block.id, Verdict::new(category, RuleId::OneNumber), size, known);
        }
    }
}

/// Claim all blocks for the model; but equal blocks that lie in a row, as many as there are layers, may be a cache.
fn claim_layers(placed: &[PlacedBlock], by_size: &PlacedBySize, layers: usize, claims: &mut Claims) {
    let mut longest_row: BTreeMap<Bytes, usize> = BTreeMap::new();
    for row in large_sizes(placed).chunk_by(|a, b| a == b) {
        if let Some(&size) = row.first() {
            let most = longest_row.entry(size).or_default();
            *most = (*most).max(row.len());
        }
    }
    let verdict = RuleId::LayersRepeat.verdict();
    for (&size, blocks) in by_size {
        let is_of_model = blocks.len() % layers <= MAX_OUTSIDE_LAYERS;
        let in_a_row = longest_row.get(&size).copied().unwrap_or(0);
        if !is_of_model || layers <= in_a_row {
            continue;
        }
        let known = Blocks { alike: blocks.len(), known: blocks.len(), known_as: Category::Parameter };
        for block in blocks {
            claims.claim_with_blocks(block.id, verdict, size, known);
        }
    }
}
