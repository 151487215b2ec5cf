//! Bounds below which blocks agree by chance, or do not matter.

/// Fewer different sizes of blocks than this, or parameters in a row, agree by chance: that the sizes are those of parameters,
/// say, or that each is there three times.
pub(super) const MIN_AGREEING_SIZES: usize = 3;

/// Sizes with at most one part in this many of all bytes do not speak against a pattern: small buffers are there in any
/// number.
pub(super) const NEGLIGIBLE_PART: i64 = 200;

/// Patterns agree if all but one in this many of their blocks do.
pub(super) const DIFFERENT_PART: usize = 10;

/// What belongs to the parameters exceeds their bytes by at most one part in this many: few other blocks have such sizes.
pub(super) const EXCESS_PART: i64 = 4;

/// Blocks for each parameter with Adam: itself, its gradient, and two moments.
pub(super) const ADAM_BLOCKS: usize = 4;

/// A model has at least this many equal layers; fewer blocks may be equal by chance.
pub(super) const MIN_LAYERS: usize = 4;

/// A call of a model makes, and with a graph leaves, at least this many blocks.
pub(super) const MIN_BLOCKS_OF_MODEL: usize = 16;
