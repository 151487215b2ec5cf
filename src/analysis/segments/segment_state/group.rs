//! Which holes serve which requests: pool, stream and size class.

use crate::model::PoolKey;

/// Which of a pool's two halves a segment serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SizeClass {
    /// Requests up to [`SMALL_SIZE`](crate::model::allocator_sizes::SMALL_SIZE).
    Small,
    /// Larger requests.
    Large,
}

/// What holes are interchangeable: a request can only use holes of its own key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKey {
    /// Whether these are blocks that lie in no segment.
    pub is_outside: bool,
    /// The pool; `None` where it was not recorded, or where all memory is of the default pool as
    /// far as the file tells.
    pub pool: Option<PoolKey>,
    /// The stream; `None` where it was not recorded.
    pub stream: Option<i64>,
    /// Small or large; `None` where that cannot be known.
    pub class: Option<SizeClass>,
}
