//! The pairs of a pool and a stream that ask for memory. Each has free lists of its own, one for small and one for large blocks.

use oomscope_model::PoolKey;
use std::collections::BTreeMap;

/// The most pairs, more than any program has. Further ones, which only a damaged file has, share the first.
const MAX_PAIRS: usize = 512;

/// A pool, by its index in [`PoolStreams::pools`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PoolIx(u32);

impl PoolIx {
    /// The default pool, which always exists.
    pub(crate) const DEFAULT: Self = Self(0);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A pool and its lists.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    pub(crate) key: PoolKey,
    /// Whether its blocks are never split, as `MemPool(no_split=True)` has it.
    pub(crate) is_unsplit: bool,
    /// Free lists of small blocks, in the order of their streams.
    small: Vec<u32>,
    /// Free lists of large blocks, in the order of their streams.
    large: Vec<u32>,
}

/// Every pair of a pool and a stream that asks for memory. The pair `n` has the free lists `2 n` (small) and `2 n + 1` (large).
#[derive(Debug, Clone)]
pub(crate) struct PoolStreams {
    pools: Vec<Pool>,
    pairs: Vec<(PoolIx, i64)>,
    known: BTreeMap<(PoolKey, i64), u32>,
}

impl Default for PoolStreams {
    fn default() -> Self {
        let default = Pool { key: PoolKey::DEFAULT, is_unsplit: false, small: Vec::new(), large: Vec::new() };
        Self { pools: vec![default], pairs: Vec::new(), known: BTreeMap::new() }
    }
}

impl PoolStreams {
    /// The number of a pair, which is added if it is new.
    pub(crate) fn add(&mut self, key: PoolKey, stream: i64) -> u32 {
        if let Some(&pool_stream) = self.known.get(&(key, stream)) {
            return pool_stream;
        }
        if MAX_PAIRS <= self.pairs.len() {
            return 0;
        }
        let pool = self.pool(key).unwrap_or_else(|| {
            self.pools.push(Pool { key, is_unsplit: false, small: Vec::new(), large: Vec::new() });
            PoolIx(self.pools.len() as u32 - 1)
        });
        let pool_stream = self.pairs.len() as u32;
        self.pairs.push((pool, stream));
        self.known.insert((key, stream), pool_stream);
        let pairs = &self.pairs;
        let pool = &mut self.pools[pool.index()];
        for (lists, list) in [(&mut pool.small, pool_stream * 2), (&mut pool.large, pool_stream * 2 + 1)] {
            // Torch orders streams by the address of the stream, so negative ids come last.
            let of = |list: u32| pairs[(list / 2) as usize].1 as u64;
            let at = lists.partition_point(|&other| of(other) < of(list));
            lists.insert(at, list);
        }
        pool_stream
    }

    /// The pool with this id, if it asks for memory.
    pub(crate) fn pool(&self, key: PoolKey) -> Option<PoolIx> {
        self.pools.iter().position(|pool| pool.key == key).map(|at| PoolIx(at as u32))
    }

    /// Never split the blocks of a pool.
    pub(crate) fn set_unsplit(&mut self, pool: PoolIx) {
        self.pools[pool.index()].is_unsplit = true;
    }

    pub(crate) fn pools(&self) -> &[Pool] {
        &self.pools
    }

    /// Number of pairs.
    pub(crate) fn len(&self) -> usize {
        self.pairs.len()
    }

    #[inline]
    pub(crate) fn pool_ix_of_list(&self, list: u32) -> PoolIx {
        self.pairs[(list / 2) as usize].0
    }

    #[inline]
    pub(crate) fn pool_of_list(&self, list: u32) -> &Pool {
        &self.pools[self.pool_ix_of_list(list).index()]
    }

    /// The stream of a list.
    pub(crate) fn stream_of_list(&self, list: u32) -> i64 {
        self.pairs[(list / 2) as usize].1
    }

    pub(crate) fn small_lists(&self, pool: PoolIx) -> &[u32] {
        &self.pools[pool.index()].small
    }

    pub(crate) fn large_lists(&self, pool: PoolIx) -> &[u32] {
        &self.pools[pool.index()].large
    }
}
