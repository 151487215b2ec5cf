//! The caching allocator itself: requests in, blocks out.
//!
//! The steps of a request are those of torch's allocator, in its order: a cached block (`search`),
//! garbage collection (`garbage`), a new segment (`grow`, `expandable`), giving back what is too large
//! to be split or everything that is cached (`release`), and trying again.

mod expandable;
mod garbage;
mod grow;
mod place;
mod release;
mod search;
#[cfg(test)]
mod tests;

use super::blocks::{Block, Blocks, NONE, State};
use super::counters::Counters;
use super::driver::Driver;
use super::free_list::{Entry, FreeList};
use super::lanes::{Lanes, PoolIx};
use super::rounding::{MIN_BLOCK_BYTES, SMALL_BYTES, block_bytes, is_large};
use super::rules::{Rules, TieBreak};
use super::segment_events::{Cause, SegmentAction, SegmentEvent};
use std::collections::{BTreeMap, BTreeSet};

pub(super) use release::Scope;

/// Memory from one `cudaMalloc`, or the address range of an expandable segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub(super) base: u64,
    /// Bytes; of an expandable one the whole range.
    pub(super) size: u64,
    /// How many segments had been created before.
    created: u32,
    /// Bytes that are mapped at once; 0 if the segment is not expandable.
    page: u64,
}

impl Segment {
    pub(super) fn is_expandable(&self) -> bool {
        self.page != 0
    }
}

/// The blocks of one size class in a pool.
#[derive(Debug, Clone, Default)]
struct Class {
    /// How often a block was looked for.
    searches: u32,
}

/// A caching allocator on one device.
#[derive(Debug, Clone)]
pub(super) struct Allocator<'a> {
    pub(super) rules: Rules,
    pub(super) lanes: &'a Lanes,
    pub(super) driver: Driver<'a>,
    pub(super) counters: Counters,
    pub(super) blocks: Blocks,
    pub(super) segments: Vec<Segment>,
    unused_segments: Vec<u32>,
    /// Bases of the expandable segments that exist.
    ranges: BTreeMap<u64, u32>,
    created: u32,
    /// Two for each lane: small, then large.
    pub(super) free: Vec<FreeList>,
    /// Unmapped blocks by address, one set for each list.
    unmapped: Vec<BTreeSet<(u64, u32)>>,
    /// Two for each pool: small, then large.
    classes: Vec<Class>,
    /// Pools that nobody will ask again, which go when everything is given back.
    freeable: BTreeSet<PoolIx>,
    /// Blocks that wait for a stream.
    pending: BTreeSet<u32>,
    /// Blocks whose streams are only done because the next request waits for them.
    forced: Vec<u32>,
    /// The block that each slot of the program holds.
    held: Vec<u32>,
    /// What was done to segments since this was last cleared.
    pub(super) log: Vec<SegmentEvent>,
    /// The event that the simulation is at.
    pub(super) now: u32,
}

impl<'a> Allocator<'a> {
    pub(super) fn new(rules: Rules, lanes: &'a Lanes, slots: usize, driver: Driver<'a>) -> Self {
        let lists = lanes.len() * 2;
        Self {
            rules,
            lanes,
            driver,
            counters: Counters::default(),
            blocks: Blocks::default(),
            segments: Vec::new(),
            unused_segments: Vec::new(),
            ranges: BTreeMap::new(),
            created: 0,
            free: std::iter::repeat_with(FreeList::default).take(lists).collect(),
            unmapped: vec![BTreeSet::new(); lists],
            classes: std::iter::repeat_with(Class::default).take(lanes.pools().len() * 2).collect(),
            freeable: BTreeSet::new(),
            pending: BTreeSet::new(),
            forced: Vec::new(),
            held: vec![NONE; slots],
            log: Vec::new(),
            now: 0,
        }
    }

    /// Go on to the request that this event recorded.
    #[inline]
    pub(super) fn advance(&mut self, event: u32) {
        self.now = event;
        self.driver.advance(event);
    }

    /// Serve a request; `None` if there is no memory for it. What the slot held before is given back,
    /// as a recording without its free would have it.
    #[inline]
    pub(super) fn malloc(&mut self, lane: u32, requested: u64, slot: u32) -> Option<u32> {
        if self.held.get(slot as usize).is_some_and(|&block| block != NONE) {
            self.free(slot);
        }
        let size = block_bytes(requested, &self.rules.settings);
        let list = list_of(lane, size);
        let found = self.take_fit(list, size).or_else(|| self.grow(list, size));
        let block = found.map(|found| self.hand_out(found, size));
        match block {
            Some(block) => self.hold(block, requested, slot, State::Live),
            None => self.counters.num_ooms += 1,
        }
        // Only now: until it is handed out, what was found is free without being in a list.
        for id in std::mem::take(&mut self.forced) {
            if self.pending.remove(&id) {
                self.complete(id);
            }
        }
        block
    }

    /// Count a block as the program's.
    #[inline]
    pub(super) fn hold(&mut self, id: u32, requested: u64, slot: u32, state: State) {
        let block = &mut self.blocks[id];
        (block.requested, block.slot, block.state) = (requested, slot, state);
        let size = block.size;
        self.counters.active_bytes.add(size);
        self.counters.requested_bytes.add(requested);
        self.counters.active.add(1);
        if state == State::Live {
            self.counters.allocated_bytes.add(size);
        } else {
            self.pending.insert(id);
        }
        if let Some(held) = self.held.get_mut(slot as usize) {
            *held = id;
        }
    }

    /// Cut what was asked for off a block that is in no list.
    #[inline]
    fn hand_out(&mut self, id: u32, size: u64) -> u32 {
        let block = self.blocks[id];
        let remaining = block.size.saturating_sub(size);
        let is_split = self.blocks.is_split(id);
        let counts = !self.segments[block.segment as usize].is_expandable();
        if !self.should_split(block.list, size, remaining) {
            if is_split && counts {
                self.counters.inactive_split_bytes.sub(block.size);
                self.counters.inactive_split.sub(1);
            }
            return id;
        }
        let cut = self.blocks.add(Block { size, prev: NONE, next: NONE, state: State::Live, ..block });
        self.blocks.link_before(id, cut);
        let rest = &mut self.blocks[id];
        (rest.addr, rest.size) = (block.addr + size, remaining);
        self.insert_free(id);
        if is_split && counts {
            self.counters.inactive_split_bytes.sub(size);
        } else if counts {
            self.counters.inactive_split_bytes.add(remaining);
            self.counters.inactive_split.add(1);
        }
        cut
    }

    #[inline]
    fn should_split(&self, list: u32, size: u64, remaining: u64) -> bool {
        if self.lanes.pool_of_list(list).is_unsplit {
            return false;
        }
        if is_small_list(list) || self.rules.settings.expandable_segments {
            return MIN_BLOCK_BYTES <= remaining;
        }
        size < self.rules.settings.max_split() && SMALL_BYTES < remaining
    }

    /// The program gives a block back, and nothing else uses it.
    #[inline]
    pub(super) fn free(&mut self, slot: u32) {
        self.free_requested(slot);
        self.free_completed(slot);
    }

    /// The program gives a block back; it waits for a stream.
    #[inline]
    pub(super) fn free_requested(&mut self, slot: u32) {
        let Some(id) = self.held_by(slot) else { return };
        let block = &mut self.blocks[id];
        if block.state == State::Live {
            block.state = State::Pending;
            let size = block.size;
            self.counters.allocated_bytes.sub(size);
            self.pending.insert(id);
        }
    }

    /// No stream uses a block any more.
    #[inline]
    pub(super) fn free_completed(&mut self, slot: u32) {
        let Some(id) = self.held_by(slot) else { return };
        if self.blocks[id].state == State::Live {
            self.counters.allocated_bytes.sub(self.blocks[id].size);
        } else {
            self.pending.remove(&id);
        }
        self.complete(id);
    }

    /// No stream uses a block any more once the next request has waited for all streams.
    pub(super) fn free_by_waiting(&mut self, slot: u32) {
        let Some(id) = self.held_by(slot) else { return };
        self.free_requested(slot);
        self.held[slot as usize] = NONE;
        self.blocks[id].slot = NONE;
        self.forced.push(id);
    }

    #[inline]
    fn held_by(&self, slot: u32) -> Option<u32> {
        self.held.get(slot as usize).copied().filter(|&id| id != NONE)
    }

    /// Put a block into the cache, joined with free neighbours.
    #[inline]
    fn complete(&mut self, id: u32) {
        let block = self.blocks[id];
        if let Some(held) = self.held.get_mut(block.slot as usize) {
            *held = NONE;
        }
        self.counters.active_bytes.sub(block.size);
        self.counters.requested_bytes.sub(block.requested);
        self.counters.active.sub(1);
        self.blocks[id].state = State::Free;
        let joined = [self.merge(id, block.prev), self.merge(id, block.next)];
        self.insert_free(id);
        if !self.segments[block.segment as usize].is_expandable() {
            let is_split = self.blocks.is_split(id);
            let parts = joined.iter().filter(|&&bytes| bytes != 0).count() as u64;
            self.counters
                .inactive_split_bytes
                .swap(joined[0] + joined[1], if is_split { self.blocks[id].size } else { 0 });
            self.counters.inactive_split.swap(parts, u64::from(is_split));
        }
    }

    /// Take a neighbour of the same state into a block that is in no list; the bytes that it had.
    #[inline]
    fn merge(&mut self, id: u32, neighbour: u32) -> u64 {
        if neighbour == NONE || self.blocks[neighbour].state != self.blocks[id].state {
            return 0;
        }
        let gone = self.blocks[neighbour];
        self.take_out(neighbour);
        let block = &mut self.blocks[id];
        block.size += gone.size;
        if block.prev == neighbour {
            (block.addr, block.prev) = (gone.addr, gone.prev);
            if gone.prev != NONE {
                self.blocks[gone.prev].next = id;
            }
        } else {
            block.next = gone.next;
            if gone.next != NONE {
                self.blocks[gone.next].prev = id;
            }
        }
        self.blocks.remove(neighbour);
        gone.size
    }

    /// Take a free or unmapped block out of its list.
    #[inline]
    fn take_out(&mut self, id: u32) {
        let block = self.blocks[id];
        if block.state == State::Unmapped {
            self.unmapped[block.list as usize].remove(&(block.addr, id));
        } else {
            let entry = self.entry(id);
            self.free[block.list as usize].remove(&entry);
        }
    }

    #[inline]
    pub(super) fn insert_free(&mut self, id: u32) {
        let class = class_of_list(self.lanes, self.blocks[id].list);
        let block = &mut self.blocks[id];
        block.state = State::Free;
        block.freed_at = self.classes[class].searches;
        let list = block.list;
        let entry = self.entry(id);
        self.free[list as usize].insert(entry);
    }

    #[inline]
    fn entry(&self, id: u32) -> Entry {
        let block = &self.blocks[id];
        let created = match self.rules.tie_break {
            TieBreak::Address => 0,
            TieBreak::Creation => self.segments[block.segment as usize].created,
        };
        Entry { size: block.size, created, addr: block.addr, block: id }
    }

    pub(super) fn add_segment(&mut self, base: u64, size: u64, page: u64) -> u32 {
        let segment = Segment { base, size, created: self.created, page };
        self.created += 1;
        if page != 0 {
            self.ranges
                .insert(base, self.unused_segments.last().copied().unwrap_or(self.segments.len() as u32));
        }
        if let Some(id) = self.unused_segments.pop() {
            self.segments[id as usize] = segment;
            return id;
        }
        self.segments.push(segment);
        self.segments.len() as u32 - 1
    }

    fn remove_segment(&mut self, id: u32) {
        let segment = self.segments[id as usize];
        if segment.is_expandable() && self.ranges.get(&segment.base) == Some(&id) {
            self.ranges.remove(&segment.base);
        }
        self.unused_segments.push(id);
    }

    fn note(&mut self, action: SegmentAction, addr: u64, size: u64, list: u32) {
        let counters = &mut self.counters;
        match action {
            SegmentAction::Alloc => counters.segment_allocs += 1,
            SegmentAction::Free => counters.segment_frees += 1,
            SegmentAction::Map => counters.segment_maps += 1,
            SegmentAction::Unmap => counters.segment_unmaps += 1,
        }
        match action {
            SegmentAction::Alloc => counters.segment.add(1),
            SegmentAction::Free => counters.segment.sub(1),
            SegmentAction::Map | SegmentAction::Unmap => {}
        }
        if action.gives_back() {
            counters.reserved_bytes.sub(size);
        } else {
            counters.reserved_bytes.add(size);
        }
        self.log.push(SegmentEvent {
            event: self.now,
            action,
            addr,
            size,
            cause: Cause::Request,
            lane: list / 2,
        });
    }

    /// Free bytes that are cached, and the largest block of them.
    pub(super) fn holes(&self) -> (u64, u64) {
        let largest = self.free.iter().filter_map(|list| Some(list.last()?.size)).max();
        let cached = self.counters.reserved_bytes.current.saturating_sub(self.counters.active_bytes.current);
        (cached, largest.unwrap_or(0))
    }
}

/// The list that serves blocks of a size on a lane.
#[inline]
pub(super) fn list_of(lane: u32, block_bytes: u64) -> u32 {
    lane * 2 + u32::from(is_large(block_bytes))
}

#[inline]
fn is_small_list(list: u32) -> bool {
    list.is_multiple_of(2)
}

#[inline]
fn class_of_list(lanes: &Lanes, list: u32) -> usize {
    lanes.pool_ix_of_list(list).index() * 2 + (list % 2) as usize
}
