//! Sizes of blocks that mean something by themselves, in bytes.

/// A tensor as small as this is a single number: a loss, its gradient, or an optimizer's counter.
pub(super) const SCALAR_BYTES: i64 = 8;

/// torch's allocator takes requests up to this size from segments for small blocks (`kSmallSize`).
pub(super) const SMALL_REQUEST_BYTES: i64 = 1 << 20;

/// torch's allocator makes a segment of its own for a request of at least this size (`kMinLargeAlloc`).
pub(super) const OWN_SEGMENT_BYTES: i64 = 10 << 20;

/// Segments for single blocks have sizes in multiples of this (`kRoundLarge`).
pub(super) const SEGMENT_STEP_BYTES: i64 = 2 << 20;

/// The segments that large blocks below [`OWN_SEGMENT_BYTES`] share have this size (`kLargeBuffer`).
pub(super) const SHARED_SEGMENT_BYTES: i64 = 20 << 20;
