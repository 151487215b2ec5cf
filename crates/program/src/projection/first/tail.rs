//! What follows the repeated blocks of a forward: the last norm, the head, and the loss.

use super::parameters::{Parameters, Region};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The results of the head of a model with a vocabulary, and what their loss keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    pub(super) logits_bytes: u64,
    /// A copy of the logits that the loss keeps.
    pub(super) copy_bytes: Option<u64>,
    pub(super) loss_bytes: u64,
    /// How many operations of the backward make a gradient of the size of what the loss keeps.
    pub(super) operations: usize,
    /// Whether the program holds the logits until the backward is over.
    pub(super) is_held: bool,
}

impl Head {
    /// That with logits of some bytes. Autocast makes them with half as many, of which its loss keeps a copy beside twice as many.
    pub(super) fn of(bytes: u64, is_autocast: bool) -> Self {
        let (logits_bytes, copy_bytes, operations) =
            if is_autocast { (bytes / 2, Some(bytes / 2), 1) } else { (bytes, None, 2) };
        Self { logits_bytes, copy_bytes, loss_bytes: bytes, operations, is_held: false }
    }

    /// The same where the program holds the logits.
    pub(super) fn held(self, is_held: bool) -> Self {
        Self { is_held, ..self }
    }

    /// Whether bytes are those of logits, or of what the loss keeps.
    pub(super) fn is_large(&self, bytes: u64) -> bool {
        self.logits_bytes / 2 <= bytes
    }

    /// Whether bytes in the loss are the most that it keeps.
    pub(super) fn is_loss(&self, bytes: u64) -> bool {
        self.loss_bytes / 4 * 3 <= bytes
    }
}

/// The results of the head of a model with a vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Logits {
    pub(super) bytes: u64,
    /// Whether the head is the table in which tokens are looked up.
    pub(super) is_tied: bool,
}

/// The logits of a model with a vocabulary, if it has one, given the bytes of the features of all tokens.
///
/// Such a model looks its tokens up in a table with a row for each, and its head is a table of the same size, or that one. A norm
/// has one number for each feature, and as many times as a table is larger, as many rows it has.
pub(super) fn logits(parameters: &Parameters, region: &Region, embedded_bytes: u64) -> Option<Logits> {
    let Parameters { sizes, .. } = parameters;
    let block = &sizes[region.range.start..region.range.start + region.period];
    let after = &sizes[region.range.end..];
    let vector = vector(block)?;
    let before = &sizes[..region.range.start];
    let table = before.iter().copied().max().filter(|table| table.is_multiple_of(vector))?;
    let rows = table / vector;
    let features = features(block, vector);
    let is_own = after.contains(&table);
    // What goes on like a block after the last one may be a part of it.
    let blocks_end = region.range.start + region.count() * region.period;
    let rest = &sizes[blocks_end..];
    let has_bias = [2, 4].into_iter().any(|width| rest.contains(&rows.saturating_mul(width)));
    let is_tied = has_bias || rest.iter().all(|&size| size <= vector);
    let bytes = u128::from(embedded_bytes) * u128::from(rows) / u128::from(features);
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    (features < rows && (is_own || is_tied)).then_some(Logits { bytes, is_tied: !is_own })
}

/// A table has as many times the numbers of a vector as it has rows: between a thirtieth and sixteen times as many as the vector has
/// bytes.
const ROWS: [u64; 2] = [32, 16];

/// The bytes of a parameter with a number for each feature: the smallest of the most frequent that go into the largest table as a
/// vector does.
fn vector(block: &[u64]) -> Option<u64> {
    let largest = block.iter().copied().max()?;
    let is_vector = |size: u64| {
        let square = size.saturating_mul(size);
        let has_rows = square / ROWS[0] <= largest && largest / ROWS[1] <= square;
        has_rows && size != 0 && largest.is_multiple_of(size)
    };
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for size in block.iter().copied().filter(|&size| is_vector(size)) {
        *counts.entry(size).or_default() += 1;
    }
    counts.into_iter().max_by_key(|&(size, count)| (count, Reverse(size))).map(|(size, _)| size)
}

/// How many numbers a vector has, with four or two bytes for each: a square table tells.
fn features(block: &[u64], vector: u64) -> u64 {
    let has = |width: u64| block.iter().any(|&size| size == vector.saturating_mul(vector / width));
    if !has(4) && has(2) { vector / 2 } else { (vector / 4).max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table, some blocks of attention and an MLP with four bytes for each number, and what comes after them.
    fn model(features: u64, rows: u64, after: &[u64]) -> Parameters {
        let vector = 4 * features;
        let block =
            [vector, vector, 3 * vector * features, vector * features, 4 * vector * features, 4 * vector];
        let blocks = std::iter::repeat_n(block, 6).flatten();
        let sizes = [rows * vector].into_iter().chain(blocks).chain(after.iter().copied());
        let sizes: Vec<u64> = sizes.collect();
        Parameters { trained: sizes.clone(), sizes }
    }

    fn of(features: u64, rows: u64, after: &[u64]) -> Option<u64> {
        let parameters = model(features, rows, after);
        let region = parameters.blocks()[0].clone();
        assert_eq!(region.count(), 6);
        logits(&parameters, &region, 100 * 4 * features).map(|logits| logits.bytes)
    }

    #[test]
    fn logits_have_a_number_for_each_row_of_a_head_that_is_tied_or_not() {
        let [features, rows] = [64, 1000];
        let vector = 4 * features;
        assert_eq!(of(features, rows, &[vector, vector]), Some(100 * 4 * rows));
        assert_eq!(of(features, rows, &[vector, rows * vector]), Some(100 * 4 * rows));
        // A classifier, whose results are few.
        assert_eq!(of(features, rows, &[vector, 10 * vector]), None);
        // A vocabulary that is smaller than the features gives no logits worth a word.
        assert_eq!(of(features, 32, &[vector]), None);
    }
}
