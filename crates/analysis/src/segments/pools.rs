//! Private pools over time: their reserved bytes and their allocations.

use oomscope_model::{
    Action, AllocId, Allocation, Bytes, Curve, EventIx, EventTable, Moment, PoolKey, ReservedRange,
    StepCurve, Timeline,
};
use std::collections::{BTreeMap, BTreeSet};

/// Number of private pools that have an index of their own, so that it fits into a byte. Allocations of
/// further ones count as those of the default pool.
const MAX_POOLS: usize = 254;

/// One private pool.
#[derive(Debug)]
pub struct PrivatePool {
    /// Its key.
    pub key: PoolKey,
    /// Segment bytes that it owns, over time.
    pub reserved: StepCurve,
}

/// The private pools of a timeline.
#[derive(Debug)]
pub struct PrivatePools {
    /// The pools, by key.
    pub pools: Vec<PrivatePool>,
    /// One more than the index of each allocation's pool; 0 for the default pool.
    owner: Vec<u8>,
    /// The active bytes of the default pool, plus the reserved bytes of every private pool, or its active
    /// bytes if those are more.
    pub total: Curve,
}

/// The private pools; `None` if there are none.
pub fn private_pools(timeline: &Timeline) -> Option<PrivatePools> {
    let keys = timeline.ranges.all().iter().filter_map(|range| range.pool);
    let keys: BTreeSet<PoolKey> =
        keys.chain(timeline.events.distinct_pools()).filter(|key| key.is_private()).collect();
    if keys.is_empty() {
        return None;
    }
    let keys: Vec<PoolKey> = keys.into_iter().take(MAX_POOLS).collect();
    let pools: Vec<PrivatePool> =
        keys.iter().map(|&key| PrivatePool { key, reserved: reserved(timeline, key) }).collect();
    let owner = owners(timeline, &keys);
    let total = total(timeline, &pools, &owner);
    Some(PrivatePools { pools, owner, total })
}

impl PrivatePools {
    /// The pool of an allocation, as an index; `None` for the default pool.
    #[inline]
    pub fn owner(&self, id: AllocId) -> Option<usize> {
        usize::from(self.owner[id.index()]).checked_sub(1)
    }
}

fn reserved(timeline: &Timeline, key: PoolKey) -> StepCurve {
    let mut changes: BTreeMap<Moment, Bytes> = BTreeMap::from([(Moment::START, Bytes::ZERO)]);
    let mut add = |moment, bytes: Bytes| {
        let change = changes.entry(moment).or_default();
        *change += bytes;
    };
    for range in timeline.ranges.all().iter().filter(|range| range.pool == Some(key)) {
        add(range.start, range.size);
        if let Some(end) = range.end {
            add(end, -range.size);
        }
    }
    let mut now = Bytes::ZERO;
    let steps = changes.into_iter().map(|(moment, change)| {
        now += change;
        (moment, now)
    });
    StepCurve::from_steps(steps.collect())
}

fn owners(timeline: &Timeline, keys: &[PoolKey]) -> Vec<u8> {
    let index = |key| keys.binary_search(&key).map_or(0, |at| at as u8 + 1);
    let places = PoolPlaces::new(timeline);
    let owner = |id: AllocId| places.pool_of(&timeline.allocation(id)).map_or(0, index);
    timeline.ids().map(owner).collect()
}

/// The pools of allocations. If an allocation's event does not name one, it is that of the reserved range
/// that the allocation lies in.
#[derive(Debug)]
pub(crate) struct PoolPlaces<'a> {
    /// The ranges with a known pool, by address, then start.
    ranges: Vec<&'a ReservedRange>,
}

impl<'a> PoolPlaces<'a> {
    pub(crate) fn new(timeline: &'a Timeline) -> Self {
        let mut ranges: Vec<_> = timeline.ranges.all().iter().filter(|range| range.pool.is_some()).collect();
        ranges.sort_by_key(|range| (range.addr, range.start));
        Self { ranges }
    }

    /// True if no range has a known pool.
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The pool of an allocation; `None` if it is unknown.
    pub(crate) fn pool_of(&self, allocation: &Allocation) -> Option<PoolKey> {
        allocation.pool.or_else(|| self.pool_at(allocation.addr, allocation.start))
    }

    /// The pool of an event's memory; `None` if it is unknown.
    pub(crate) fn pool_of_event(&self, ix: EventIx, events: &EventTable) -> Option<PoolKey> {
        let around = || {
            let addr = events.addr(ix).filter(|_| events.action(ix) != Action::Oom)?;
            // Memory that goes back to the driver with this event was there before it.
            self.pool_at(addr, Moment::after(ix)).or_else(|| self.pool_at(addr, Moment(ix.0)))
        };
        events.pool(ix).or_else(around)
    }

    fn pool_at(&self, addr: u64, moment: Moment) -> Option<PoolKey> {
        let behind = self.ranges.partition_point(|range| range.addr <= addr);
        // The range that holds the address is among the last that start at or before it. Ranges that start
        // at one address replace one another in time; the bound keeps a look-up short if they are very many.
        let before = self.ranges[..behind].iter().rev().take(64);
        let mut holding =
            before.filter(|range| addr - range.addr < range.size.as_u64() && range.is_live_at(moment));
        holding.next().and_then(|range| range.pool)
    }
}

/// True if some events lack their pool although the pool of some reserved memory is known.
pub(crate) fn lacks_pools(timeline: &Timeline) -> bool {
    let is_unknown = timeline.events.contexts().iter().any(|context| context.pool.is_none());
    is_unknown && !PoolPlaces::new(timeline).is_empty()
}

/// The curve of [`PrivatePools::total`].
fn total(timeline: &Timeline, pools: &[PrivatePool], owner: &[u8]) -> Curve {
    let moments = timeline.moments();
    let mut changes: Vec<(u32, u8, Bytes)> = Vec::new();
    for (id, &owner) in owner.iter().enumerate().filter(|&(_, &owner)| owner != 0) {
        let id = AllocId(id as u32);
        let size = timeline.size(id);
        changes.push((timeline.lifetimes.start(id).0, owner, size));
        if let Some(end) = timeline.lifetimes.end(id) {
            changes.push((end.0, owner, -size));
        }
    }
    changes.sort_unstable();
    let mut active = vec![Bytes::ZERO; pools.len() + 1];
    let mut steps: Vec<_> = pools.iter().map(|pool| pool.reserved.steps().iter().peekable()).collect();
    let mut reserved = vec![Bytes::ZERO; pools.len()];
    let mut changes = changes.into_iter().peekable();
    let value = |moment: usize| {
        while let Some((_, owner, change)) = changes.next_if(|change| change.0 as usize <= moment) {
            let active = &mut active[usize::from(owner)];
            *active += change;
        }
        let mut total = timeline.active.at(Moment(moment as u32));
        for (at, steps) in steps.iter_mut().enumerate() {
            while let Some(&(_, bytes)) = steps.next_if(|(start, _)| start.index() <= moment) {
                reserved[at] = bytes;
            }
            total += (reserved[at] - active[at + 1]).or_zero();
        }
        total
    };
    Curve::from_values((0..moments).map(value).collect())
}
