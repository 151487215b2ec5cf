//! Groups of interchangeable holes: those of one pool, stream and size class.

use oomscope_model::PoolKey;
use std::fmt;

/// One of the two halves of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SizeClass {
    /// Requests up to [`SMALL_SIZE`](oomscope_model::allocator_sizes::SMALL_SIZE).
    Small,
    /// Larger requests.
    Large,
}

impl SizeClass {
    /// Its name in torch.
    pub fn key(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Large => "large",
        }
    }
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

/// `default large pool · stream 0`; what was not recorded is left out.
impl fmt::Display for GroupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (space, class) = self.class.map_or(("", ""), |class| (" ", class.key()));
        match (self.pool, class) {
            (None, "") => f.write_str("segments")?,
            (None, class) => write!(f, "{class} pool")?,
            (Some(PoolKey::DEFAULT), _) => write!(f, "default{space}{class} pool")?,
            (Some(PoolKey(a, b)), _) => write!(f, "private{space}{class} pool {a}.{b}")?,
        }
        self.stream.map_or(Ok(()), |stream| write!(f, " · stream {stream}"))
    }
}
