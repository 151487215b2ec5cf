//! The search for a cached block.

use super::blocks::{NONE, State};
use super::free_list::At;
use super::{Allocator, class_of_list};

impl Allocator<'_> {
    /// Take the cached block that serves a request best out of its list.
    #[inline]
    pub(super) fn take_fit(&mut self, list: u32, size: u64) -> Option<u32> {
        let class = class_of_list(self.pool_streams, list);
        self.classes[class].searches += 1;
        let at = self.find_fit(list, size)?;
        Some(self.free_lists[list as usize].take(at).block())
    }

    /// The cached block that serves a request best.
    ///
    /// Like torch, this looks only at the first candidate: if it must not be used, no other is taken.
    #[inline]
    pub(super) fn find_fit(&self, list: u32, size: u64) -> Option<At> {
        let free = &self.free_lists[list as usize];
        let mut at = free.first_fit(size)?;
        // Most recordings have no expandable segment, so that no block needs to be looked up.
        if !self.ranges.is_empty() && self.is_expandable(free.get(at).block()) {
            at = if self.rules.settings.expandable_segments {
                self.least_expandable(list, at)
            } else {
                self.first_inexpandable(list, at)?
            };
        }
        (!self.is_oversize(free.get(at).size, size)).then_some(at)
    }

    /// Whether a block is too large for a request, because it must not be split.
    #[inline]
    pub(super) fn is_oversize(&self, found: u64, size: u64) -> bool {
        let settings = &self.rules.settings;
        let max_split = settings.max_split();
        if size < max_split {
            max_split <= found
        } else {
            size.saturating_add(settings.max_non_split_rounding_bytes) <= found
        }
    }

    #[inline]
    fn is_expandable(&self, block: u32) -> bool {
        self.segments[self.blocks[block].segment as usize].is_expandable()
    }

    /// The first block of an expandable segment, from `at` on, whose successor can grow to more.
    fn least_expandable(&self, list: u32, mut at: At) -> At {
        let free = &self.free_lists[list as usize];
        while let Some(next) = free.after(at) {
            let (here, there) = (free.get(at).block(), free.get(next).block());
            if !self.is_expandable(here) || self.extent(here) <= self.extent(there) {
                break;
            }
            at = next;
        }
        at
    }

    /// The size that a block could grow to: its own, and that of the unmapped range behind it.
    fn extent(&self, id: u32) -> u64 {
        let block = &self.blocks[id];
        let beyond = (block.next != NONE).then(|| &self.blocks[block.next]);
        block.size + beyond.filter(|next| next.state == State::Unmapped).map_or(0, |next| next.size)
    }

    /// The next block that is not part of an expandable segment.
    fn first_inexpandable(&self, list: u32, mut at: At) -> Option<At> {
        let free = &self.free_lists[list as usize];
        while self.is_expandable(free.get(at).block()) {
            at = free.after(at)?;
        }
        Some(at)
    }
}
