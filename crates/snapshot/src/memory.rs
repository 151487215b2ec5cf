//! The memory that a builder takes, which must stay in proportion to the file.

use super::builder::Builder;
use oomscope_model::{Frame, PoolKey, StrId};
use std::ops::Range;

/// Bytes of an entry of a hash table, with the room that the table keeps free.
const LOOKUP_BYTES: usize = 16;

impl Builder {
    /// Bytes of memory that all tables take together, roughly.
    pub(super) fn tables_bytes(&self) -> usize {
        let strings = self.strings.text_bytes() + self.strings.len() * (size_of::<StrId>() + LOOKUP_BYTES);
        let frames = self.frames.len() * (2 * size_of::<Frame>() + LOOKUP_BYTES);
        let rows = size_of_val(&*self.blocks)
            + size_of_val(&*self.history)
            + size_of_val(&*self.annotations)
            + size_of_val(&*self.record_lists)
            + self.record_ranges * size_of::<Range<u32>>()
            + size_of_val(&*self.segments.segments)
            + size_of_val(&*self.segments.blocks);
        let pools = self.pools.len() * (2 * size_of::<PoolKey>() + LOOKUP_BYTES);
        let states = self.dicts.held_bytes() + self.lists.held_bytes() + self.loose.held_bytes();
        let dimensions = self.dimensions.held_bytes();
        strings
            + frames
            + rows
            + pools
            + dimensions
            + states
            + self.events.held_bytes()
            + self.stacks.held_bytes()
    }
}
