//! Ids of memory pools: pairs of ints.

use foldhash::HashMap;
use oomscope_model::PoolKey;
use oomscope_pickle::{Handle, Value, View};

/// The handle of every tuple that means nothing. It is beyond any index of a pool.
pub(super) const OTHER_TUPLE: Handle = Handle(Handle::LIMIT - 1);

/// The pools that tuples name, by handle. Equal tuples share one.
#[derive(Debug, Default, Clone)]
pub(super) struct PoolIds {
    pools: Vec<PoolKey>,
    handles: HashMap<PoolKey, Handle>,
    /// The latest pool: consecutive events mostly have the same one, which saves a look into the map.
    latest: Option<(PoolKey, Handle)>,
}

impl PoolIds {
    /// The handle of a tuple with these items.
    #[inline]
    pub(super) fn add(&mut self, items: &[Value]) -> Handle {
        match (pool_key(items), self.latest) {
            (None, _) => OTHER_TUPLE,
            (Some(pool), Some((latest, handle))) if latest == pool => handle,
            (Some(pool), _) => self.look_up(pool),
        }
    }

    fn look_up(&mut self, pool: PoolKey) -> Handle {
        let pools = &mut self.pools;
        let handle = *self.handles.entry(pool).or_insert_with(|| {
            pools.push(pool);
            Handle(pools.len() as u32 - 1)
        });
        self.latest = Some((pool, handle));
        handle
    }

    /// The pool that a tuple names; `None` if it is another tuple.
    #[inline]
    pub(super) fn get(&self, tuple: Handle) -> Option<PoolKey> {
        self.pools.get(tuple.0 as usize).copied()
    }

    /// All pools, by handle.
    pub(super) fn keys(&self) -> &[PoolKey] {
        &self.pools
    }

    /// Number of pools.
    pub(super) fn len(&self) -> usize {
        self.pools.len()
    }
}

/// The pool whose id these values are: two ints.
#[inline]
pub(super) fn pool_key(items: &[Value]) -> Option<PoolKey> {
    match items {
        [first, second] => match (first.view(), second.view()) {
            (View::Int(a), View::Int(b)) => Some(PoolKey(a, b)),
            _ => None,
        },
        _ => None,
    }
}
