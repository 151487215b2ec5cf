//! Expandable segments: ranges of addresses into which pages are mapped.

use super::blocks::{Block, NONE, State};
use super::{Allocator, Segment, is_small_list};
use crate::requests::SegmentAction;
use crate::settings::SMALL_BUFFER;

impl Allocator<'_> {
    /// Bytes that are mapped at once for a list's blocks.
    pub(super) fn page_bytes(&self, list: u32) -> u64 {
        if is_small_list(list) { SMALL_BUFFER } else { self.rules.settings.large_segment_bytes }
    }

    /// Map the pages that a block of this size needs. If the device has no memory for all of them, those that were mapped
    /// stay.
    pub(super) fn grow_expandable(&mut self, list: u32, size: u64) -> Option<u32> {
        if self.range_bytes(self.page_bytes(list)) < size {
            return None;
        }
        let mut id = match self.find_expandable(list, size) {
            Some(found) => found,
            None => self.new_range(list)?,
        };
        if self.blocks[id].state == State::Unmapped {
            self.map(id, size.min(self.blocks[id].size))?;
        }
        while self.blocks[id].size < size {
            let (next, missing) = (self.blocks[id].next, size - self.blocks[id].size);
            if next == NONE || self.blocks[next].state != State::Unmapped {
                return None;
            }
            self.map(next, missing.min(self.blocks[next].size))?;
            id = next;
        }
        self.take_out(id);
        Some(id)
    }

    /// The first block of the lowest run of unmapped and free blocks that has room.
    fn find_expandable(&self, list: u32, size: u64) -> Option<u32> {
        let is_room = |id: u32| id != NONE && matches!(self.blocks[id].state, State::Free | State::Unmapped);
        let has_room = |from: u32| {
            let (mut id, mut bytes) = (from, 0u64);
            while bytes < size && is_room(id) {
                bytes += self.blocks[id].size;
                id = self.blocks[id].next;
            }
            size <= bytes
        };
        self.unmapped[list as usize].iter().find_map(|&(_, id)| {
            let before = self.blocks[id].prev;
            let from = if is_room(before) { before } else { id };
            has_room(from).then_some(from)
        })
    }

    /// Add a range without memory that has room for more than the device; `None` if no address is left for it.
    fn new_range(&mut self, list: u32) -> Option<u32> {
        let page = self.page_bytes(list);
        let size = self.range_bytes(page);
        let recorded = self.driver.range_address(list / 2, page, |addr| self.range_at(addr).is_some());
        let base = recorded.or_else(|| self.driver.addresses.take(size))?;
        Some(self.add_range(base, size, page, list))
    }

    /// The expandable range that an address lies in.
    fn range_at(&self, addr: u64) -> Option<Segment> {
        let range = self.ranges.range(..=addr).next_back().map(|(_, &id)| self.segments[id as usize]);
        range.filter(|range| addr < range.base.saturating_add(range.size))
    }

    /// Bytes of a range of addresses: 9/8 of the device's memory, as in torch, in whole pages.
    pub(super) fn range_bytes(&self, page: u64) -> u64 {
        let total = self.rules.total_bytes;
        (total + total / 8).next_multiple_of(page)
    }

    /// Add a range of addresses without memory behind it; returns its only block.
    fn add_range(&mut self, base: u64, size: u64, page: u64, list: u32) -> u32 {
        let segment = self.add_segment(base, size, page);
        let id = self.blocks.add(Block::alone((base, size), segment, list, State::Unmapped));
        self.unmapped[list as usize].insert((base, id));
        id
    }

    /// Map pages from the start of an unmapped block on, which makes it free and joins it with free neighbours.
    fn map(&mut self, id: u32, size: u64) -> Option<()> {
        let block = self.blocks[id];
        let segment = self.segments[block.segment as usize];
        let start = block.addr - segment.base;
        let mapped = ((start + size).next_multiple_of(segment.page) - start).min(block.size);
        if self.driver.capacity < self.counters.reserved_bytes.current.saturating_add(mapped) {
            return None;
        }
        self.driver.mapped();
        self.take_out(id);
        if mapped < block.size {
            self.blocks[id].size = mapped;
            self.add_behind(id, block.size - mapped, State::Unmapped);
        }
        self.blocks[id].state = State::Free;
        self.merge(id, block.prev);
        self.merge(id, self.blocks[id].next);
        self.insert_free(id);
        self.note(SegmentAction::Map, block.addr, mapped, block.list);
        Some(())
    }

    /// Add a block of a state behind another.
    fn add_behind(&mut self, id: u32, size: u64, state: State) -> u32 {
        let block = self.blocks[id];
        let addr = block.addr + block.size;
        let new = self.blocks.add(Block { addr, size, prev: NONE, next: NONE, state, ..block });
        self.blocks.link_after(id, new);
        if state == State::Unmapped {
            self.unmapped[block.list as usize].insert((addr, new));
        } else {
            self.insert_free(new);
        }
        new
    }

    /// Give back the pages that lie entirely in a free block.
    pub(super) fn unmap(&mut self, id: u32) {
        let block = self.blocks[id];
        let segment = self.segments[block.segment as usize];
        let (start, end) = (block.addr - segment.base, block.addr - segment.base + block.size);
        let from = start.next_multiple_of(segment.page);
        let to = end / segment.page * segment.page;
        if to <= from {
            return;
        }
        self.take_out(id);
        if start < from {
            let head = self.blocks.add(Block { size: from - start, prev: NONE, next: NONE, ..block });
            self.blocks.link_before(id, head);
            self.insert_free(head);
        }
        let part = &mut self.blocks[id];
        (part.addr, part.size, part.state) = (segment.base + from, to - from, State::Unmapped);
        if to < end {
            self.add_behind(id, end - to, State::Free);
        }
        self.merge(id, self.blocks[id].prev);
        self.merge(id, self.blocks[id].next);
        self.unmapped[block.list as usize].insert((self.blocks[id].addr, id));
        self.note(SegmentAction::Unmap, segment.base + from, to - from, block.list);
        if !self.blocks.is_split(id) {
            self.take_out(id);
            self.blocks.remove(id);
            self.remove_segment(block.segment);
        }
    }
}
