//! The pool of an address, for versions of torch that do not write it with events.

use oomscope_model::{Moment, PoolKey, ReservedRange, Timeline};
use std::collections::BTreeMap;

/// The pools of the ranges that are reserved at a moment, which only moves forward.
pub(super) struct PoolsByAddress<'a> {
    /// All ranges, in the order in which they are reserved.
    coming: &'a [ReservedRange],
    next: usize,
    /// First address behind the range, and its pool, by the address of the range. A range that was given back stays
    /// until another takes its address.
    present: BTreeMap<u64, (u64, PoolKey)>,
}

impl<'a> PoolsByAddress<'a> {
    /// The state before the first event; `None` where events name pools themselves, or where there is only one pool.
    pub(super) fn new(timeline: &'a Timeline) -> Option<Self> {
        let all = timeline.ranges.all();
        let is_needed = timeline.events.contexts().iter().any(|context| context.pool.is_none())
            && all.iter().any(|range| range.pool.is_some_and(PoolKey::is_private));
        let mut out = Self { coming: all, next: 0, present: BTreeMap::new() };
        out.go_to(Moment::START);
        is_needed.then_some(out)
    }

    /// Add the ranges that are reserved until a moment.
    pub(super) fn go_to(&mut self, moment: Moment) {
        while let Some(range) = self.coming.get(self.next).filter(|range| range.start <= moment) {
            self.present.insert(range.addr, (range.past_end(), range.pool.unwrap_or(PoolKey::DEFAULT)));
            self.next += 1;
        }
    }

    pub(super) fn pool_at(&self, addr: u64) -> Option<PoolKey> {
        let (_, &(past_end, pool)) = self.present.range(..=addr).next_back()?;
        (addr < past_end).then_some(pool)
    }
}
