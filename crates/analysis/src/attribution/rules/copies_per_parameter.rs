//! How many blocks there are for each parameter: itself, its gradient, and state of an optimizer.

use super::placed_blocks::{PlacedBlock, PlacedBySize};
use crate::attribution::thresholds::{
    ADAM_BLOCKS, MAX_BLOCKS_PER_PARAMETER, MAX_COMPARED, MIN_TELLING_BLOCKS, MISSING_PART, SIMILAR_PART,
    is_nearly_all,
};
use oomscope_model::Bytes;
use std::cmp::Reverse;

/// How many of the blocks of a size are parameters if there are `each` for every parameter.
pub(super) fn count_parameters(blocks: &[PlacedBlock], each: usize) -> Option<usize> {
    let parameters = blocks.len() / each;
    let is_even = blocks.len().is_multiple_of(each);
    let early = count_early(blocks);
    // Some gradients or state may lie among the parameters, but not most of them.
    (is_even && parameters <= early && early <= 2 * parameters).then_some(parameters)
}

/// How many blocks lie where parameters do.
fn count_early(blocks: &[PlacedBlock]) -> usize {
    blocks.iter().filter(|block| block.is_early).count()
}

/// The blocks that there are for each parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CopiesPerParameter {
    /// Blocks for each parameter, itself included, at least.
    pub(super) each: usize,
    /// How many of those are gradients.
    pub(super) gradients: usize,
    /// Bytes of the blocks that this explains.
    pub(super) explained_bytes: Bytes,
}

impl CopiesPerParameter {
    /// Find the number that most sizes agree on, by their bytes; the blocks are in address order.
    pub(super) fn of(placed: &[PlacedBlock], by_size: &PlacedBySize) -> Option<Self> {
        let weight = |size: Bytes, count: usize| size.or_zero() * (count as i64);
        let sizes = || by_size.iter().filter(|(_, blocks)| 0 < count_early(blocks));
        let total: Bytes = sizes().map(|(&size, blocks)| weight(size, count_early(blocks))).sum();
        let agreeing_bytes = |each: usize| {
            let agreeing =
                sizes().filter_map(|(&size, blocks)| Some(weight(size, count_parameters(blocks, each)?)));
            agreeing.sum::<Bytes>()
        };
        // Of several numbers that explain as much, the least.
        let (parameter_bytes, Reverse(each)) =
            (1..=MAX_BLOCKS_PER_PARAMETER).map(|each| (agreeing_bytes(each), Reverse(each))).max()?;
        let is_agreed = total - total / MISSING_PART as i64 <= parameter_bytes && 1 < each;
        is_agreed.then(|| Self {
            each,
            gradients: gradients_of_each(placed, each),
            explained_bytes: parameter_bytes * (each as i64),
        })
    }
}

/// How many of the blocks for each parameter are gradients. State is made in the order of the parameters, one tensor or
/// more of each in turn; gradients come in another order, and in a new one each time.
fn gradients_of_each(placed: &[PlacedBlock], each: usize) -> usize {
    // Fewer may be state without gradients.
    if ADAM_BLOCKS <= each {
        return 1;
    }
    // Small and large blocks come from different segments: each kind has an order of its own.
    for is_small in [true, false] {
        let sizes = |is_early: bool| -> Vec<Bytes> {
            let of_kind =
                placed.iter().filter(|block| block.is_early == is_early && block.is_small == is_small);
            of_kind.map(|block| block.size).take(MAX_COMPARED).collect()
        };
        let (parameters, later) = (sizes(true), sizes(false));
        let is_uniform = later.iter().min() == later.iter().max();
        if is_uniform || later.len() < MIN_TELLING_BLOCKS {
            continue;
        }
        let are_gradients = match each {
            2 => !are_in_order(&parameters, &later, each),
            _ => !are_paired(&later),
        };
        return usize::from(are_gradients);
    }
    0
}

/// Whether later blocks have the sizes of the parameters in their order, each as often as there is state for one.
fn are_in_order(parameters: &[Bytes], later: &[Bytes], each: usize) -> bool {
    let repeated = parameters.iter().flat_map(|&size| std::iter::repeat_n(size, each - 1));
    let states: Vec<Bytes> = repeated.take(MAX_COMPARED).collect();
    let most = later.len().min(states.len());
    is_nearly_all(longest_common_subsequence(&states, later), most)
}

/// Whether equal blocks lie side by side in pairs, as two tensors of state of each parameter do: else about all runs of equal ones
/// have an odd length.
fn are_paired(later: &[Bytes]) -> bool {
    let (mut odd, mut runs) = (0, 0);
    for run in later.chunk_by(|a, b| a == b) {
        odd += usize::from(run.len() % 2 == 1);
        runs += 1;
    }
    runs < MIN_TELLING_BLOCKS || odd < runs - runs / SIMILAR_PART
}

fn longest_common_subsequence(a: &[Bytes], b: &[Bytes]) -> usize {
    let mut row = vec![0usize; b.len() + 1];
    for x in a {
        let mut before = 0;
        let mut left = 0;
        for (slot, y) in row.iter_mut().skip(1).zip(b) {
            let above = *slot;
            *slot = if x == y { before + 1 } else { above.max(left) };
            (before, left) = (above, *slot);
        }
    }
    row.last().copied().unwrap_or(0)
}
