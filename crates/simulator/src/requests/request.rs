//! One thing that the program did.

use super::pool_streams::PoolIx;

/// The cached memory that emptying a cache gives back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// That of the default pool, and of the pools that nobody will ask again.
    Everything,
    /// That of a private pool alone.
    Pool(PoolIx),
}

/// One thing that the program did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// It asked for a block.
    Alloc { slot: u32, pool_stream: u32, requested: u64 },
    /// It gave a block back, and nothing else used it.
    Free { slot: u32 },
    /// It gave a block back that another stream still used.
    FreeRequested { slot: u32 },
    /// That stream was done.
    FreeCompleted { slot: u32 },
    /// That stream was done, but only because the request that follows waited for all streams.
    FreeForced { slot: u32 },
    /// That stream was done; it is unknown whether only because the request that follows waited for all streams.
    MaybeForced { slot: u32 },
    /// It emptied the cache.
    Flush(Scope),
    /// The cache was emptied; it is unknown whether by the program or for the request that follows.
    MaybeFlush,
    /// Nobody asks a private pool any more.
    PoolFreed(PoolIx),
    /// It asked for a block and got none.
    Oom { pool_stream: u32, requested: u64 },
}

/// An [`Op`] and the event that recorded it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) event: u32,
    pub(crate) op: Op,
}
