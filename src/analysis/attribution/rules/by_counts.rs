//! State alone, where nothing shows which addresses are older: how often each size is there.
//!
//! Training keeps as many blocks of a parameter's size for each parameter. A model that only infers has sizes that are there
//! once, and others once or more in each of its layers.

use super::layout::Placed;
use super::{Blocks, Category, Claims, RuleId, Verdict};
use std::collections::BTreeMap;

/// Blocks for each parameter: itself, its gradient, two moments.
const EACH: usize = 4;

/// Sizes with less than this part of all bytes do not speak against a number.
const NEGLIGIBLE_PART: i64 = 200;

/// Fewer sizes may have a common divisor by chance.
const MIN_SIZES: usize = 3;

/// Fewer layers may be as many as training keeps blocks.
const MIN_LAYERS: usize = 6;

/// A size of a parameter that is in no layer is there so often at most, in a model that is not trained.
const MOST_OUTSIDE: usize = 2;

/// Activations leave holes between them; weights that are loaded leave at most this part.
const HOLE_PART: i64 = 20;

/// Of sizes that come again in the same order, this part may differ.
const SOME_PART: usize = 10;

type Sizes = BTreeMap<i64, Vec<Placed>>;

/// Settle blocks, in the order of their addresses; `hole_bytes` is what is free between them. Whether they could be told.
/// Where the order is shown, it tells more than one number for all.
pub(super) fn settle(placed: &[Placed], hole_bytes: i64, is_order_shown: bool, claims: &mut Claims) -> bool {
    let mut sizes = Sizes::new();
    for &block in placed {
        sizes.entry(block.size).or_default().push(block);
    }
    let total = bytes(&sizes);
    let matters = |size: i64, count: usize| total / NEGLIGIBLE_PART < size.saturating_mul(count as i64);
    let counts: Vec<usize> =
        sizes.iter().filter(|(size, of)| matters(**size, of.len())).map(|(_, of)| of.len()).collect();
    let divisor = counts.iter().copied().fold(0, gcd);
    // Three may be parameters, gradients and momentum, or Adam without gradients.
    let is_training = 0 < divisor && divisor.is_multiple_of(EACH) && !divisor.is_multiple_of(3);
    if !is_order_shown && is_training && MIN_SIZES <= counts.len() && !repeats(placed, divisor) {
        settle_training(&sizes, claims);
        return true;
    }
    let layers = counts.iter().copied().filter(|&count| MOST_OUTSIDE < count).min().unwrap_or(0);
    let fits = |count: &usize| *count <= MOST_OUTSIDE || count % layers.max(1) <= MOST_OUTSIDE;
    let is_model = counts.contains(&1) && MIN_LAYERS <= layers && counts.iter().all(fits);
    if is_model && hole_bytes <= total / HOLE_PART {
        settle_layers(placed, &sizes, layers, claims);
        return true;
    }
    false
}

/// Whether the sizes come again and again in the same order, as those of equal layers do: state comes tensor beside tensor,
/// and gradients from the last parameter on.
fn repeats(placed: &[Placed], divisor: usize) -> bool {
    let large: Vec<i64> = placed.iter().filter(|block| !block.is_small).map(|block| block.size).collect();
    let in_so_many = |parts: usize| {
        let later = large.get(large.len() / parts..).unwrap_or_default();
        let alike = large.iter().zip(later).filter(|(a, b)| a == b).count();
        later.len() - later.len() / SOME_PART <= alike
    };
    (2..=divisor).filter(|&parts| divisor.is_multiple_of(parts)).any(in_so_many)
}

fn bytes(sizes: &Sizes) -> i64 {
    let each = sizes.iter().map(|(size, of)| size.max(&0).saturating_mul(of.len() as i64));
    each.fold(0, i64::saturating_add)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// For each parameter a gradient, and its state in two tensors. Which of them is which is not known; how many there are is.
fn settle_training(sizes: &Sizes, claims: &mut Claims) {
    for (&size, of) in sizes.iter().filter(|(_, of)| of.len().is_multiple_of(EACH)) {
        let own = of.len() / EACH;
        let blocks = Blocks { alike: of.len(), known: own, known_as: Category::Parameter };
        for (at, block) in of.iter().enumerate() {
            let category = match at {
                _ if at < own => Category::Parameter,
                _ if at < 2 * own => Category::Gradient,
                _ => Category::OptimizerState,
            };
            claims.claim_of(block.id, Verdict::new(category, RuleId::OneNumber), size, blocks);
        }
    }
}

/// All of them are the model; but equal blocks that lie in a row, as many as there are layers, may be a cache.
fn settle_layers(placed: &[Placed], sizes: &Sizes, layers: usize, claims: &mut Claims) {
    let large: Vec<i64> = placed.iter().filter(|block| !block.is_small).map(|block| block.size).collect();
    let mut longest: BTreeMap<i64, usize> = BTreeMap::new();
    for run in large.chunk_by(|a, b| a == b) {
        if let Some(&size) = run.first() {
            let most = longest.entry(size).or_default();
            *most = (*most).max(run.len());
        }
    }
    let in_a_row = |size: i64| longest.get(&size).copied().unwrap_or(0);
    for (&size, of) in sizes {
        let is_of_model = of.len() % layers <= MOST_OUTSIDE;
        if !is_of_model || layers <= in_a_row(size) {
            continue;
        }
        let blocks = Blocks { alike: of.len(), known: of.len(), known_as: Category::Parameter };
        for block in of {
            claims.claim_of(block.id, Verdict::new(Category::Parameter, RuleId::LayersRepeat), size, blocks);
        }
    }
}
