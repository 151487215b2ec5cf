//! New memory from the driver.

use super::Allocator;
use super::blocks::{Block, State};
use crate::requests::{Scope, SegmentAction};
use crate::settings::segment_bytes;

impl Allocator<'_> {
    /// A block of at least this size that is in no list, from a new segment. If the device has no memory left, cached
    /// memory is given back before trying again.
    pub(super) fn grow(&mut self, list: u32, size: u64) -> Option<u32> {
        self.collect_garbage();
        if let Some(block) = self.new_block(list, size) {
            return Some(block);
        }
        if self.release_oversize(list, size)
            && let Some(block) = self.new_block(list, size)
        {
            return Some(block);
        }
        self.release_cached(Scope::Everything);
        self.counters.num_alloc_retries += 1;
        self.new_block(list, size)
    }

    /// A block from a new segment, or from an expandable one that grows; `None` if that exceeds a limit.
    fn new_block(&mut self, list: u32, size: u64) -> Option<u32> {
        let wanted = segment_bytes(size, &self.rules.settings);
        let after = self.counters.reserved_bytes.current.saturating_add(wanted);
        if self.rules.allowed_bytes.is_some_and(|allowed| allowed < after) {
            return None;
        }
        if self.rules.settings.expandable_segments {
            return self.grow_expandable(list, size);
        }
        if self.driver.capacity < after {
            return None;
        }
        let addr = self.driver.segment_address(wanted)?;
        self.note(SegmentAction::Alloc, addr, wanted, list);
        Some(self.add_whole(addr, wanted, list))
    }

    /// Add a segment that is one free block in no list; returns the block.
    fn add_whole(&mut self, addr: u64, size: u64, list: u32) -> u32 {
        let segment = self.add_segment(addr, size, 0);
        self.blocks.add(Block::alone((addr, size), segment, list, State::Free))
    }
}
