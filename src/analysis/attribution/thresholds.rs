//! Bounds below which blocks agree by chance, or do not matter.

/// Fewer different sizes of blocks than this agree by chance: that they are those of parameters, say, or that each is there
/// three times.
pub(super) const MIN_AGREEING_SIZES: usize = 3;

/// Sizes with at most one part in this many of all bytes do not speak against a pattern: small buffers are there in any
/// number.
pub(super) const NEGLIGIBLE_PART: i64 = 200;
