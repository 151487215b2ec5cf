//! Serving a request: rounding, the search, splitting what was found, and handing it out.

use super::blocks::{Block, NONE, State};
use super::{Allocator, is_small_list, list_of};
use crate::settings::{MIN_BLOCK_SIZE, SMALL_SIZE, block_bytes};

impl Allocator<'_> {
    /// Serve a request; `None` if there is no memory for it. A block that the slot still holds is given back: the
    /// recording lacks its free.
    #[inline]
    pub(crate) fn malloc(&mut self, pool_stream: u32, requested: u64, slot: u32) -> Option<u32> {
        if self.held.get(slot as usize).is_some_and(|&block| block != NONE) {
            self.free(slot);
        }
        let size = block_bytes(requested, &self.rules.settings);
        let list = list_of(pool_stream, size);
        let found = self.take_fit(list, size).or_else(|| self.grow(list, size));
        let block = found.map(|found| self.hand_out(found, size));
        match block {
            Some(block) => self.hold(block, requested, slot, State::Live),
            None => self.counters.num_ooms += 1,
        }
        // Only now: the block that was found is marked free but in no list until it is handed out, so joining a
        // neighbour with it before would corrupt the lists.
        if !self.forced.is_empty() {
            self.complete_forced();
        }
        block
    }

    fn complete_forced(&mut self) {
        for id in std::mem::take(&mut self.forced) {
            if self.pending.remove(&id) {
                self.complete(id);
            }
        }
    }

    /// Let a slot hold a block that is live or pending, and count it.
    #[inline]
    pub(super) fn hold(&mut self, id: u32, requested: u64, slot: u32, state: State) {
        let block = &mut self.blocks[id];
        (block.requested, block.slot, block.state) = (requested, slot, state);
        let (size, list) = (block.size, block.list);
        let oversize = self.count_if_oversize(size);
        self.count(list, |counters| {
            counters.active_bytes.add(size);
            counters.requested_bytes.add(requested);
            counters.active.add(1);
            if state == State::Live {
                counters.allocated_bytes.add(size);
                counters.allocation.add(1);
                counters.oversize_allocations.add(oversize);
            }
        });
        if state != State::Live {
            self.pending.insert(id);
        }
        if let Some(held) = self.held.get_mut(slot as usize) {
            *held = id;
        }
    }

    /// Cut `size` bytes off the low end of a block that is in no list, or take all of it. Returns the block to hand out.
    #[inline]
    fn hand_out(&mut self, id: u32, size: u64) -> u32 {
        let block = self.blocks[id];
        debug_assert!(size <= block.size, "the block that was found has room");
        let remaining = block.size.saturating_sub(size);
        let is_split = self.blocks.is_split(id);
        let counts = !self.segments[block.segment as usize].is_expandable();
        if !self.should_split(block.list, size, remaining) {
            if is_split && counts {
                self.count(block.list, |counters| {
                    counters.inactive_split_bytes.sub(block.size);
                    counters.inactive_split.sub(1);
                });
            }
            return id;
        }
        let cut = self.blocks.add(Block { size, prev: NONE, next: NONE, state: State::Live, ..block });
        self.blocks.link_before(id, cut);
        let rest = &mut self.blocks[id];
        (rest.addr, rest.size) = (block.addr + size, remaining);
        self.insert_free(id);
        if counts {
            self.count(block.list, |counters| {
                if is_split {
                    counters.inactive_split_bytes.sub(size);
                } else {
                    counters.inactive_split_bytes.add(remaining);
                    counters.inactive_split.add(1);
                }
            });
        }
        cut
    }

    /// Whether `remaining` bytes are split off a block that serves a request of `size` bytes.
    #[inline]
    fn should_split(&self, list: u32, size: u64, remaining: u64) -> bool {
        if self.pool_streams.pool_of_list(list).is_unsplit {
            return false;
        }
        if is_small_list(list) || self.rules.settings.expandable_segments {
            return MIN_BLOCK_SIZE <= remaining;
        }
        size < self.rules.settings.max_split() && SMALL_SIZE < remaining
    }
}
