//! The blocks that optimizers make for themselves, by their size.

/// Optimizers make blocks up to this size, in bytes, for numbers of their own: step counters, learning rates, norms.
pub(super) const NUMBERS_BYTES: i64 = 4096;

/// Optimizers make blocks up to this size, in bytes, as scratch memory.
pub(super) const SCRATCH_BYTES: i64 = 64 << 10;
