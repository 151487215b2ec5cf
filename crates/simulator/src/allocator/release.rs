//! Giving memory back to the driver.

use super::Allocator;
use super::blocks::State;
use crate::requests::{PoolIx, Scope, SegmentAction};

impl Allocator<'_> {
    /// Nobody will ask a private pool again.
    pub(crate) fn pool_is_freeable(&mut self, pool: PoolIx) {
        self.freeable.insert(pool);
    }

    /// Give back every cached segment and page, as `empty_cache` does.
    pub(crate) fn release_cached(&mut self, scope: Scope) {
        // Like torch, wait for all streams first.
        for id in std::mem::take(&mut self.pending) {
            self.complete(id);
        }
        let pool_streams = self.pool_streams;
        if let Scope::Pool(pool) = scope {
            self.release_lists(pool_streams.large_lists(pool));
            return self.release_lists(pool_streams.small_lists(pool));
        }
        self.release_lists(pool_streams.large_lists(PoolIx::DEFAULT));
        self.release_lists(pool_streams.small_lists(PoolIx::DEFAULT));
        for pool in self.freeable.clone() {
            self.release_lists(pool_streams.small_lists(pool));
            self.release_lists(pool_streams.large_lists(pool));
        }
    }

    /// Give back the cached segments and pages of some lists.
    fn release_lists(&mut self, lists: &[u32]) {
        let entries = lists.iter().flat_map(|&list| self.free_lists[list as usize].iter());
        let cached: Vec<u32> = entries.map(|entry| entry.block()).collect();
        let is_expandable =
            |this: &Self, id: u32| this.segments[this.blocks[id].segment as usize].is_expandable();
        for &id in &cached {
            if !is_expandable(self, id) && !self.blocks.is_split(id) {
                self.release(id);
            }
        }
        // Unmapping joins blocks, so it comes last, and only for blocks that are still free.
        for &id in &cached {
            if self.blocks[id].state == State::Free && is_expandable(self, id) {
                self.unmap(id);
            }
        }
    }

    /// Give back a segment that is one free block.
    pub(super) fn release(&mut self, id: u32) {
        let block = self.blocks[id];
        self.take_out(id);
        self.note(SegmentAction::Free, block.addr, block.size, block.list);
        self.blocks.remove(id);
        self.remove_segment(block.segment);
    }

    /// Give back cached blocks that are too large to be split: one that has room for the request, or several, the largest
    /// first. Returns whether that was enough.
    pub(super) fn release_oversize(&mut self, list: u32, size: u64) -> bool {
        let max_split = self.rules.settings.max_split();
        if max_split == u64::MAX {
            return false;
        }
        let wanted = size.max(max_split);
        let free = &self.free_lists[list as usize];
        let is_expandable = |id: u32| self.segments[self.blocks[id].segment as usize].is_expandable();
        let first = free.first_fit(wanted).map(|at| free.get(at).block()).filter(|&id| !is_expandable(id));
        if let Some(id) = first {
            let is_whole = !self.blocks.is_split(id);
            if is_whole {
                self.release(id);
            }
            return is_whole;
        }
        let end = free.first_fit(wanted).map(|at| free.get(at));
        let below = free.iter().rev().skip_while(|&entry| end.is_some_and(|end| !entry.is_before(&end)));
        let oversize = below.take_while(|entry| max_split <= entry.size);
        let mut found = Vec::new();
        let mut bytes = 0u64;
        for entry in oversize {
            if wanted <= bytes {
                break;
            }
            if !is_expandable(entry.block()) && !self.blocks.is_split(entry.block()) {
                bytes += entry.size;
                found.push(entry.block());
            }
        }
        for id in found {
            self.release(id);
        }
        wanted <= bytes
    }
}
