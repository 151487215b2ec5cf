//! Amounts of memory.

use std::cmp::Ordering;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Rem, Sub, SubAssign};

/// An amount of memory, or the difference of two, in bytes.
///
/// Amounts come from files, so they may be any, even negative. Arithmetic stops at the largest and the smallest amount, where
/// plain numbers would wrap.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub i64);

impl Bytes {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The largest amount.
    pub const MAX: Self = Self(i64::MAX);
    /// The smallest amount.
    pub const MIN: Self = Self(i64::MIN);

    /// A number of bytes, or the nearest amount that can be held.
    pub fn clamped(bytes: i128) -> Self {
        Self(bytes.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
    }

    /// A size, or the nearest amount that can be held.
    #[inline]
    pub fn of_size(bytes: u64) -> Self {
        Self(i64::try_from(bytes).unwrap_or(i64::MAX))
    }

    /// So many times the amount, unless it is too large.
    pub fn checked_mul(self, times: i64) -> Option<Self> {
        self.0.checked_mul(times).map(Self)
    }

    /// How often another goes into the amount, as a whole number; `None` if the other is 0.
    pub fn checked_div(self, other: Self) -> Option<i64> {
        (other != Self::ZERO).then(|| self / other)
    }

    /// The amount without its sign.
    #[must_use]
    pub fn abs(self) -> Self {
        Self(self.0.saturating_abs())
    }

    /// The amount without its sign.
    pub const fn unsigned_abs(self) -> u64 {
        self.0.unsigned_abs()
    }

    /// The amount as a size, which is 0 where it is negative.
    #[inline]
    pub fn as_u64(self) -> u64 {
        self.or_zero().unsigned_abs()
    }

    /// The amount, or nothing if it is negative.
    #[must_use]
    #[inline]
    pub fn or_zero(self) -> Self {
        Self(self.0.max(0))
    }

    /// 1 for an amount above zero, -1 for one below.
    pub fn signum(self) -> i64 {
        self.0.signum()
    }

    /// The amount for scales and shares; above 2^53 to the nearest that can be held.
    #[inline]
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }
}

impl Add for Bytes {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Bytes {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Bytes {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Bytes {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Neg for Bytes {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

impl Mul<i64> for Bytes {
    type Output = Self;

    #[inline]
    fn mul(self, times: i64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Mul<Bytes> for i64 {
    type Output = Bytes;

    #[inline]
    fn mul(self, bytes: Bytes) -> Bytes {
        bytes * self
    }
}

/// How often one goes into the other, as a whole number.
///
/// # Panics
///
/// If the other is 0.
impl Div for Bytes {
    type Output = i64;

    #[inline]
    fn div(self, other: Self) -> i64 {
        self.0.saturating_div(other.0)
    }
}

/// What is left over when one is divided by the other.
///
/// # Panics
///
/// If the other is 0.
impl Rem for Bytes {
    type Output = Self;

    #[inline]
    fn rem(self, other: Self) -> Self {
        Self(self.0.wrapping_rem(other.0))
    }
}

/// # Panics
///
/// If the number of parts is 0.
impl Div<i64> for Bytes {
    type Output = Self;

    #[inline]
    fn div(self, parts: i64) -> Self {
        Self(self.0.saturating_div(parts))
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Add::add)
    }
}

impl<'a> Sum<&'a Self> for Bytes {
    fn sum<I: Iterator<Item = &'a Self>>(all: I) -> Self {
        all.copied().sum()
    }
}

impl PartialEq<i64> for Bytes {
    #[inline]
    fn eq(&self, other: &i64) -> bool {
        self.0 == *other
    }
}

impl PartialOrd<i64> for Bytes {
    #[inline]
    fn partial_cmp(&self, other: &i64) -> Option<Ordering> {
        self.0.partial_cmp(other)
    }
}

impl PartialEq<Bytes> for i64 {
    #[inline]
    fn eq(&self, other: &Bytes) -> bool {
        *self == other.0
    }
}

impl PartialOrd<Bytes> for i64 {
    #[inline]
    fn partial_cmp(&self, other: &Bytes) -> Option<Ordering> {
        self.partial_cmp(&other.0)
    }
}

impl From<Bytes> for i64 {
    #[inline]
    fn from(bytes: Bytes) -> Self {
        bytes.0
    }
}

impl From<Bytes> for i128 {
    #[inline]
    fn from(bytes: Bytes) -> Self {
        bytes.0.into()
    }
}

impl From<i64> for Bytes {
    #[inline]
    fn from(bytes: i64) -> Self {
        Self(bytes)
    }
}

impl TryFrom<Bytes> for u64 {
    type Error = std::num::TryFromIntError;

    fn try_from(bytes: Bytes) -> Result<Self, Self::Error> {
        bytes.0.try_into()
    }
}

impl serde::Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_i64(self.0)
    }
}

impl<'de> serde::Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        i64::deserialize(from).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_stops_at_the_ends() {
        let (max, min, one) = (Bytes::MAX, Bytes::MIN, Bytes(1));
        assert_eq!([max + one, min - one, -min, min.abs()], [max, min, max, max]);
        assert_eq!([max * 2, max * -2, min / -1], [max, min, max]);
        assert_eq!([one, max].iter().sum::<Bytes>(), max);
        assert_eq!([Bytes::clamped(i128::MAX), Bytes::clamped(i128::MIN)], [max, min]);
        assert_eq!((max.checked_mul(2), one.checked_mul(2)), (None, Some(Bytes(2))));
        assert_eq!(Bytes::of_size(u64::MAX), max);
    }

    #[test]
    fn amounts_compare_with_numbers() {
        assert!(Bytes(3) == 3 && 3 == Bytes(3) && Bytes(3) < 4 && 2 < Bytes(3));
        assert_eq!([Bytes(-3).or_zero(), Bytes(3).or_zero()], [0, 3]);
    }
}
