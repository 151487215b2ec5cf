//! Taking blocks back: waiting for streams, and joining free neighbours.

use super::Allocator;
use super::blocks::{NONE, State};

impl Allocator<'_> {
    /// The program gives a block back, and nothing else uses it.
    #[inline]
    pub(crate) fn free(&mut self, slot: u32) {
        self.free_completed(slot);
    }

    /// The program gives a block back; it waits for a stream.
    #[inline]
    pub(crate) fn free_requested(&mut self, slot: u32) {
        let Some(id) = self.held_by(slot) else { return };
        if self.blocks[id].state == State::Live {
            self.blocks[id].state = State::Pending;
            self.count_given_back(id);
            self.pending.insert(id);
        }
    }

    /// No stream uses a block any more.
    #[inline]
    pub(crate) fn free_completed(&mut self, slot: u32) {
        let Some(id) = self.held_by(slot) else { return };
        if self.blocks[id].state == State::Live {
            self.count_given_back(id);
        } else {
            self.pending.remove(&id);
        }
        self.complete(id);
    }

    #[inline]
    fn count_given_back(&mut self, id: u32) {
        let (size, list) = (self.blocks[id].size, self.blocks[id].list);
        let oversize = self.count_if_oversize(size);
        self.count(list, |counters| {
            counters.allocated_bytes.sub(size);
            counters.allocation.sub(1);
            counters.oversize_allocations.sub(oversize);
        });
    }

    /// Let a block become free when the next request waits for all streams.
    pub(crate) fn free_by_waiting(&mut self, slot: u32) {
        let Some(id) = self.held_by(slot) else { return };
        self.free_requested(slot);
        self.held[slot as usize] = NONE;
        self.blocks[id].slot = NONE;
        self.forced.push(id);
    }

    /// The block that a slot holds. Frees without an allocation, as in damaged recordings, find none.
    #[inline]
    fn held_by(&self, slot: u32) -> Option<u32> {
        self.held.get(slot as usize).copied().filter(|&id| id != NONE)
    }

    /// Put a block into the cache, joined with free neighbours.
    #[inline]
    pub(super) fn complete(&mut self, id: u32) {
        let block = self.blocks[id];
        if let Some(held) = self.held.get_mut(block.slot as usize) {
            *held = NONE;
        }
        self.count(block.list, |counters| {
            counters.active_bytes.sub(block.size);
            counters.requested_bytes.sub(block.requested);
            counters.active.sub(1);
        });
        self.blocks[id].state = State::Free;
        let joined = [self.merge(id, block.prev), self.merge(id, block.next)];
        self.insert_free(id);
        if !self.segments[block.segment as usize].is_expandable() {
            let is_split = self.blocks.is_split(id);
            let parts = joined.iter().filter(|&&bytes| bytes != 0).count() as u64;
            let bytes = if is_split { self.blocks[id].size } else { 0 };
            self.count(block.list, |counters| {
                counters.inactive_split_bytes.swap(joined[0] + joined[1], bytes);
                counters.inactive_split.swap(parts, u64::from(is_split));
            });
        }
    }

    /// Join a block that is in no list with a neighbour of the same state. Returns the bytes of the neighbour, or 0.
    #[inline]
    pub(super) fn merge(&mut self, id: u32, neighbour: u32) -> u64 {
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
}
