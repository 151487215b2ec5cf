//! The caching allocator itself: requests in, blocks out.
//!
//! A request takes the steps of torch's `malloc` in the same order (`serve`): a cached block (`search`), garbage
//! collection (`garbage`), a new segment (`grow`, `expandable`), giving back the blocks that are too large to be split
//! or everything that is cached (`release`), and trying again. `free` takes blocks back.
//!
//! The hot paths are `serve`, `search`, `free` and `lists`, which a simulation enters for every event. That is why blocks,
//! segments and lists are numbered rows of tables instead of maps by address.

mod addresses;
mod blocks;
mod counters;
mod driver;
mod expandable;
mod free;
mod free_list;
mod garbage;
mod grow;
mod initial_layout;
mod layout;
mod lists;
mod release;
mod search;
mod serve;
#[cfg(test)]
mod tests;

pub use counters::{Counters, Gauge};
pub use layout::{LaidBlock, LaidSegment};

use super::requests::{Cause, PoolIx, PoolStreams, SegmentAction, SegmentEvent};
use super::settings::{Rules, is_large};
use addresses::Addresses;
use blocks::{Blocks, NONE};
use driver::Driver;
use free_list::FreeList;
use std::collections::{BTreeMap, BTreeSet};

/// Memory from one `cudaMalloc`, or the address range of an expandable segment.
#[derive(Debug, Clone, Copy)]
struct Segment {
    base: u64,
    /// Bytes; of an expandable one, those of the whole address range.
    size: u64,
    /// Number of segments that were created before.
    created: u32,
    /// Bytes that are mapped at once; 0 if the segment is not expandable.
    page: u64,
}

impl Segment {
    fn is_expandable(&self) -> bool {
        self.page != 0
    }
}

/// One size class of a pool.
#[derive(Debug, Clone, Default)]
struct Class {
    /// Number of searches for a block, the clock by which garbage collection measures age.
    searches: u32,
}

/// A caching allocator on one device.
#[derive(Debug, Clone)]
pub(super) struct Allocator<'a> {
    rules: Rules,
    pool_streams: &'a PoolStreams,
    driver: Driver<'a>,
    /// Those of all memory.
    pub(super) counters: Counters,
    /// Those of small and of large blocks, if they are wanted: most simulations do without.
    by_size: Option<Box<[Counters; 2]>>,
    blocks: Blocks,
    segments: Vec<Segment>,
    unused_segments: Vec<u32>,
    /// The expandable segments that exist, by base.
    ranges: BTreeMap<u64, u32>,
    /// Number of segments that were ever created.
    created: u32,
    /// Two for each pair of pool and stream: small, then large.
    free_lists: Vec<FreeList>,
    /// Unmapped blocks by address, one set for each list.
    unmapped: Vec<BTreeSet<(u64, u32)>>,
    /// Two for each pool: small, then large.
    classes: Vec<Class>,
    /// Private pools that nobody will ask again; their memory goes when everything is given back.
    freeable: BTreeSet<PoolIx>,
    /// Blocks that wait for a stream.
    pending: BTreeSet<u32>,
    /// Blocks whose streams are only done because the next request waits for them.
    forced: Vec<u32>,
    /// The block that each slot of the program holds.
    held: Vec<u32>,
    /// The segment events since this was last cleared.
    pub(super) log: Vec<SegmentEvent>,
    /// The event that the simulation is at.
    now: u32,
}

impl<'a> Allocator<'a> {
    /// An allocator without memory. Segments get the addresses that the `recorded` ones have, where they match.
    pub(super) fn new(
        rules: Rules,
        pool_streams: &'a PoolStreams,
        slots: usize,
        recorded: &'a [SegmentEvent],
    ) -> Self {
        let list_count = pool_streams.len() * 2;
        let driver = Driver::new(rules.capacity_bytes, recorded);
        Self {
            rules,
            pool_streams,
            driver,
            counters: Counters::default(),
            by_size: None,
            blocks: Blocks::default(),
            segments: Vec::new(),
            unused_segments: Vec::new(),
            ranges: BTreeMap::new(),
            created: 0,
            free_lists: std::iter::repeat_with(FreeList::default).take(list_count).collect(),
            unmapped: vec![BTreeSet::new(); list_count],
            classes: std::iter::repeat_with(Class::default).take(pool_streams.pools().len() * 2).collect(),
            freeable: BTreeSet::new(),
            pending: BTreeSet::new(),
            forced: Vec::new(),
            held: vec![NONE; slots],
            log: Vec::new(),
            now: 0,
        }
    }

    /// Put segments where a driver would, instead of where no recorded one is. Addresses that are free again are used again.
    pub(super) fn use_addresses_of_a_driver(&mut self) {
        self.driver.addresses = Addresses::reused();
    }

    /// Go on to the request that was recorded at `event`.
    #[inline]
    pub(super) fn advance(&mut self, event: u32) {
        self.now = event;
        self.driver.advance(event);
    }

    /// A segment without blocks; `page` is 0 unless it is expandable.
    fn add_segment(&mut self, base: u64, size: u64, page: u64) -> u32 {
        let segment = Segment { base, size, created: self.created, page };
        self.created += 1;
        let id = if let Some(id) = self.unused_segments.pop() {
            self.segments[id as usize] = segment;
            id
        } else {
            self.segments.push(segment);
            self.segments.len() as u32 - 1
        };
        if segment.is_expandable() {
            self.ranges.insert(base, id);
        }
        id
    }

    fn remove_segment(&mut self, id: u32) {
        let segment = self.segments[id as usize];
        if segment.is_expandable() && self.ranges.get(&segment.base) == Some(&id) {
            self.ranges.remove(&segment.base);
        }
        self.driver.addresses.give_back(segment.base, segment.size);
        self.unused_segments.push(id);
    }

    /// Count and log what is done to a segment.
    fn note(&mut self, action: SegmentAction, addr: u64, size: u64, list: u32) {
        let oversize = self.count_if_oversize(size);
        self.count(list, |counters| {
            match action {
                SegmentAction::Alloc => counters.segment_allocs += 1,
                SegmentAction::Free => counters.segment_frees += 1,
                SegmentAction::Map => counters.segment_maps += 1,
                SegmentAction::Unmap => counters.segment_unmaps += 1,
            }
            match action {
                SegmentAction::Alloc => {
                    counters.segment.add(1);
                    counters.oversize_segments.add(oversize);
                }
                SegmentAction::Free => {
                    counters.segment.sub(1);
                    counters.oversize_segments.sub(oversize);
                }
                SegmentAction::Map | SegmentAction::Unmap => {}
            }
            if action.gives_back() {
                counters.reserved_bytes.sub(size);
            } else {
                counters.reserved_bytes.add(size);
            }
        });
        self.log.push(SegmentEvent {
            event: self.now,
            action,
            addr,
            size,
            cause: Cause::Request,
            pool_stream: list / 2,
        });
    }

    /// Count small and large blocks apart from now on.
    pub(super) fn count_by_size(&mut self) {
        self.by_size = Some(Box::default());
    }

    /// The counters of small and of large blocks, if they are counted apart.
    pub(super) fn counters_by_size(&self) -> Option<[Counters; 2]> {
        self.by_size.as_deref().copied()
    }

    /// Change the counters of all memory, and of the small or large blocks that a list is for.
    #[inline]
    fn count(&mut self, list: u32, change: impl Fn(&mut Counters)) {
        change(&mut self.counters);
        if let Some(by_size) = &mut self.by_size {
            change(&mut by_size[usize::from(!is_small_list(list))]);
        }
    }

    /// 1 for a size that is never split, else 0.
    #[inline]
    fn count_if_oversize(&self, size: u64) -> u64 {
        u64::from(self.rules.settings.max_split() <= size)
    }

    /// The address of a block.
    #[inline]
    pub(super) fn addr(&self, block: u32) -> u64 {
        self.blocks[block].addr
    }

    /// Cached bytes, and those of the largest cached block.
    pub(super) fn holes(&self) -> (u64, u64) {
        let largest = self.free_lists.iter().filter_map(|list| Some(list.last()?.size)).max();
        let cached = self.counters.reserved_bytes.current.saturating_sub(self.counters.active_bytes.current);
        (cached, largest.unwrap_or(0))
    }
}

/// The list that serves blocks of a size for a pool and a stream.
#[inline]
fn list_of(pool_stream: u32, block_bytes: u64) -> u32 {
    pool_stream * 2 + u32::from(is_large(block_bytes))
}

#[inline]
fn is_small_list(list: u32) -> bool {
    list.is_multiple_of(2)
}

#[inline]
fn class_of_list(pool_streams: &PoolStreams, list: u32) -> usize {
    pool_streams.pool_ix_of_list(list).index() * 2 + (list % 2) as usize
}
