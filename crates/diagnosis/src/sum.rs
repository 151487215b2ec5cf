//! Sums of bytes that a file states: they stop at the largest number instead of wrapping.

/// Adds up bytes.
pub(super) trait SaturatingSum: Iterator<Item = i64> + Sized {
    /// The sum, or the largest number if it is more.
    fn saturating_sum(self) -> i64 {
        self.fold(0, i64::saturating_add)
    }
}

impl<I: Iterator<Item = i64>> SaturatingSum for I {}
