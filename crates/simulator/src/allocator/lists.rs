//! Puts blocks into their lists and takes them out: free ones by size, unmapped ones by address.

use super::blocks::State;
use super::free_list::Entry;
use super::{Allocator, class_of_list};
use crate::settings::TieBreak;

impl Allocator<'_> {
    /// Take a free or unmapped block out of its list.
    #[inline]
    pub(super) fn take_out(&mut self, id: u32) {
        let block = self.blocks[id];
        let was_there = if block.state == State::Unmapped {
            self.unmapped[block.list as usize].remove(&(block.addr, id))
        } else {
            let entry = self.entry(id);
            self.free_lists[block.list as usize].remove(&entry)
        };
        debug_assert!(was_there, "free and unmapped blocks are in their lists");
    }

    /// Put a block into its free list.
    #[inline]
    pub(super) fn insert_free(&mut self, id: u32) {
        let class = class_of_list(self.pool_streams, self.blocks[id].list);
        let block = &mut self.blocks[id];
        block.state = State::Free;
        block.freed_at = self.classes[class].searches;
        let list = block.list;
        let entry = self.entry(id);
        self.free_lists[list as usize].insert(entry);
    }

    /// The block's entry in its free list, which orders blocks as torch's version does.
    #[inline]
    pub(super) fn entry(&self, id: u32) -> Entry {
        let block = &self.blocks[id];
        let created = match self.rules.tie_break {
            TieBreak::Address => 0,
            TieBreak::Creation => self.segments[block.segment as usize].created,
        };
        Entry::new(block.size, created, block.addr, id)
    }
}
