//! Groups of interchangeable holes: those of one pool, stream and size class.

use crate::model::PoolKey;

/// One of the two halves of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SizeClass {
    /// Requests up to [`SMALL_SIZE`](crate::model::allocator_sizes::SMALL_SIZE).
    Small,
    /// Larger requests.
    Large,
}

/// The key of interchangeable holes: a request can only use holes of its own key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKey {
    /// True for blocks that lie in no segment.
    pub is_outside: bool,
    /// The pool; `None` if it was not recorded, or if the file mentions no private pool.
    pub pool: Option<PoolKey>,
    /// The stream; `None` if it was not recorded.
    pub stream: Option<i64>,
    /// Small or large; `None` if that is unknown.
    pub class: Option<SizeClass>,
}
