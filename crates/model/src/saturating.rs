//! Sums of numbers that a file states, which may be any.

/// Numbers of which sums stop at the largest instead of wrapping.
pub trait Saturating: Default {
    /// The sum of two, or the largest number if it is more.
    #[must_use]
    fn plus(self, other: Self) -> Self;
}

macro_rules! saturating {
    ($($number:ty)*) => {
        $(impl Saturating for $number {
            fn plus(self, other: Self) -> Self {
                self.saturating_add(other)
            }
        })*
    };
}

saturating!(i64 u64 i128 u128);

/// Adds up numbers.
pub trait SaturatingSum: Iterator + Sized {
    /// The sum, or the largest number if it is more.
    fn saturating_sum(self) -> Self::Item
    where
        Self::Item: Saturating,
    {
        self.fold(Self::Item::default(), Self::Item::plus)
    }
}

impl<I: Iterator> SaturatingSum for I {}

#[test]
fn a_sum_stops_at_the_ends() {
    assert_eq!([1, 2, 3].into_iter().saturating_sum(), 6_i64);
    assert_eq!([i64::MAX, 1].into_iter().saturating_sum(), i64::MAX);
    assert_eq!([i64::MIN, -1].into_iter().saturating_sum(), i64::MIN);
    assert_eq!([u64::MAX, 1].into_iter().saturating_sum(), u64::MAX);
}
