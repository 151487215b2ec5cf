//! The blocks of all segments, with links to their neighbours.

use std::ops::{Index, IndexMut};

/// No block, no segment, no list: the null of the ids here.
pub(super) const NONE: u32 = u32::MAX;

/// The state of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Cached, in its free list.
    Free,
    /// Handed out.
    Live,
    /// Given back, but another stream may still use it.
    Pending,
    /// Address space of an expandable segment without memory behind it.
    Unmapped,
    /// No block: a row of the table that the next block takes.
    Unused,
}

/// A part of a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) addr: u64,
    pub(super) size: u64,
    /// Requested bytes, while it is live or pending.
    pub(super) requested: u64,
    /// The block that ends where this one starts.
    pub(super) prev: u32,
    /// The block that starts where this one ends.
    pub(super) next: u32,
    pub(super) segment: u32,
    /// The free list that it goes to.
    pub(super) list: u32,
    /// The slot in which the program holds it, while it is live or pending.
    pub(super) slot: u32,
    /// Number of searches in its pool and size class before it became free, which gives its age.
    pub(super) freed_at: u32,
    pub(super) state: State,
}

impl Block {
    /// A block without neighbours, which the program does not hold.
    pub(super) fn alone(range: (u64, u64), segment: u32, list: u32, state: State) -> Self {
        let (addr, size) = range;
        Self {
            addr,
            size,
            requested: 0,
            prev: NONE,
            next: NONE,
            segment,
            list,
            slot: NONE,
            freed_at: 0,
            state,
        }
    }
}

/// A table of blocks. The rows of blocks that are gone are used again, so that it stays as small as the most blocks that
/// exist at a time.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    all: Vec<Block>,
    unused: Vec<u32>,
}

impl Blocks {
    #[inline]
    pub(super) fn add(&mut self, block: Block) -> u32 {
        if let Some(id) = self.unused.pop() {
            self.all[id as usize] = block;
            return id;
        }
        self.all.push(block);
        self.all.len() as u32 - 1
    }

    #[inline]
    pub(super) fn remove(&mut self, id: u32) {
        debug_assert_ne!(self.all[id as usize].state, State::Unused, "a block is removed once");
        self.all[id as usize].state = State::Unused;
        self.unused.push(id);
    }

    /// Link `new` in behind `id`.
    #[inline]
    pub(super) fn link_after(&mut self, id: u32, new: u32) {
        let next = std::mem::replace(&mut self[id].next, new);
        (self[new].prev, self[new].next) = (id, next);
        if next != NONE {
            self[next].prev = new;
        }
    }

    /// Link `new` in before `id`.
    pub(super) fn link_before(&mut self, id: u32, new: u32) {
        let prev = std::mem::replace(&mut self[id].prev, new);
        (self[new].prev, self[new].next) = (prev, id);
        if prev != NONE {
            self[prev].next = new;
        }
    }

    /// Whether a block is only a part of its segment.
    #[inline]
    pub(super) fn is_split(&self, id: u32) -> bool {
        let block = &self[id];
        block.prev != NONE || block.next != NONE
    }

    /// Every block that exists, with its id.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Block)> {
        (0..).zip(&self.all).filter(|(_, block)| block.state != State::Unused)
    }
}

impl Index<u32> for Blocks {
    type Output = Block;

    #[inline]
    fn index(&self, id: u32) -> &Block {
        &self.all[id as usize]
    }
}

impl IndexMut<u32> for Blocks {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut Block {
        &mut self.all[id as usize]
    }
}
