//! Bounds below which blocks agree by chance, or do not matter. Each has one meaning, wherever it is asked for.

use oomscope_model::Bytes;

/// A block up to this size, in bytes, is a single number: a loss, its gradient, or an optimizer's counter.
pub(crate) const SCALAR_BYTES: Bytes = Bytes(8);

/// Optimizers make blocks up to this size, in bytes, for numbers of their own: step counters, learning rates, norms.
pub(super) const NUMBERS_BYTES: Bytes = Bytes(4096);

/// Fewer than this agree by chance: different sizes that are those of parameters, say, or backwards that show how often an
/// optimizer steps.
pub(super) const MIN_AGREEING: usize = 3;

/// Fewer blocks than this may be anything, in any order: they show neither a pass nor the making of a model.
pub(super) const MIN_TELLING_BLOCKS: usize = 8;

/// A call of a model makes, and with a graph leaves, at least this many blocks.
pub(super) const MIN_BLOCKS_OF_MODEL: usize = 16;

/// A model has at least this many equal layers, and so parameters in a row; fewer blocks may be equal by chance.
pub(super) const MIN_LAYERS: usize = 4;

/// Blocks for each parameter with Adam: itself, its gradient, and two moments.
pub(super) const ADAM_BLOCKS: usize = 4;

/// Training has at most this many blocks for a parameter: itself, its gradient, three tensors of state.
pub(super) const MAX_BLOCKS_PER_PARAMETER: usize = 5;

/// More events than this do not lie between two that one expression, or lines side by side, cause.
pub(super) const NEARBY_EVENTS: u32 = 8;

/// Comparing more blocks than this, or with more candidates, would only take time: what they have in common shows in fewer.
pub(super) const MAX_COMPARED: usize = 64;

/// Sizes with at most one part in this many of all bytes do not speak against a pattern: small buffers are there in any
/// number.
pub(super) const NEGLIGIBLE_PART: i64 = 200;

/// A pattern shows if at most one part in this many lies outside of it: blocks in other places, or bytes between them.
pub(super) const OUTSIDE_PART: i64 = 20;

/// Patterns agree if all but one in this many of their blocks or bytes do.
pub(super) const DIFFERENT_PART: usize = 10;

/// Another run of the same code makes, or keeps, all but one part in this many of what the first did.
pub(super) const MISSING_PART: usize = 5;

/// Blocks or bytes are about as many as others if at most one part in this many of those more, or less.
pub(super) const SIMILAR_PART: usize = 4;

/// Whether `count` is nearly all of `of`.
pub(super) const fn is_nearly_all(count: usize, of: usize) -> bool {
    of - of / DIFFERENT_PART <= count
}
