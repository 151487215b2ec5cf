//! How much memory a builder takes: what a stranger's file makes must stay in proportion to it.

use super::builder::Builder;
use crate::model::{Frame, PoolKey, Segment, StrId};

/// An index of a hash table and what belongs to it.
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
            + self.segments.segments.len() * size_of::<Segment>();
        let tuples = self.tuples.len() * (2 * size_of::<PoolKey>() + LOOKUP_BYTES);
        let states = self.dicts.held_bytes() + self.lists.held_bytes() + self.loose.held_bytes();
        strings + frames + rows + tuples + states + self.events.held_bytes() + self.stacks.held_bytes()
    }
}
