//! Bytes of two sides, in words.

use crate::category_amount;
use oomscope_analysis::comparison::{BothSides, Change, Portion};
use oomscope_analysis::{CategoryBytes, InferredPart};
use oomscope_model::Bytes;
use oomscope_units as units;

/// `51.0 → 33.8 GiB`, with both units where they differ.
pub(super) fn pair_text([a, b]: [i128; 2]) -> String {
    let [a, b] = [a, b].map(|bytes| units::bytes(Bytes::clamped(bytes)));
    match (a.split_once(' '), b.split_once(' ')) {
        (Some((number, unit_a)), Some((_, unit_b))) if unit_a == unit_b => format!("{number} → {b}"),
        _ => format!("{a} → {b}"),
    }
}

/// The bytes of one side, marked where their category is inferred.
pub(super) fn portion_text(portion: &Portion) -> String {
    category_amount(&CategoryBytes {
        // Only the bytes are told.
        category: oomscope_analysis::Category::Unknown,
        bytes: Bytes::clamped(portion.amount.bytes),
        inferred_bytes: Bytes::clamped(portion.inferred_bytes()),
        count: 0,
    })
}

/// Whether most of either side has a category that is only inferred.
pub(super) fn is_mostly_inferred(sides: &[Portion; 2]) -> bool {
    let part = |side: &Portion| {
        InferredPart::of(Bytes::clamped(side.amount.bytes), Bytes::clamped(side.inferred_bytes()))
    };
    sides.iter().any(|side| part(side).is_most())
}

/// How a row changed, in a word.
pub(super) fn change_word<K>(row: &BothSides<K>) -> &'static str {
    match row.change() {
        Change::New => "new",
        Change::Gone => "gone",
        Change::Grown => "grown",
        Change::Shrunk => "shrunk",
        Change::Same if row.restated_bytes() != 0 => "set apart",
        Change::Same => "as before",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sizes_share_their_unit() {
        let gib = 1i128 << 30;
        assert_eq!(pair_text([51 * gib, 34 * gib]), "51.0 → 34.0 GiB");
        assert_eq!(pair_text([gib, 512]), "1.00 GiB → 512 B");
        assert_eq!(pair_text([0, gib]), "0 B → 1.00 GiB");
        assert_eq!(
            [units::bytes_change(gib), units::bytes_change(-gib), units::bytes_change(0)],
            ["+1.00 GiB", "-1.00 GiB", "0 B"]
        );
        assert_eq!(pair_text([i128::MAX, 0]), "8.00 EiB → 0 B");
    }
}
