//! Blocks of a single number.

/// A block up to this size, in bytes, is a single number: a loss, its gradient, or an optimizer's counter.
pub(super) const SCALAR_BYTES: i64 = 8;
