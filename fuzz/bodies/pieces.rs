//! Whatever the bytes, a pickle that is decoded in pieces gives what it gives as a whole: the same snapshot, damage or error.

use oomscope_snapshot::compare_in_pieces;

pub(crate) fn body(bytes: &[u8]) {
    // Sizes from the input, so that they change with it.
    let sum = bytes.iter().fold(0u64, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    if let Err(difference) = compare_in_pieces(bytes, 100 + sum % 3000, 200 + sum as usize / 3000 % 5000) {
        panic!("{difference}");
    }
}
