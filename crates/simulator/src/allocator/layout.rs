//! The simulated segment map.

use super::Allocator;
use super::blocks::{NONE, State};
use oomscope_model::{BlockState, PoolKey};

/// A simulated block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaidBlock {
    /// Address of the first byte.
    pub addr: u64,
    /// Bytes, with rounding.
    pub size: u64,
    /// Requested bytes; 0 if it is free.
    pub requested: u64,
    /// Its state.
    pub state: BlockState,
}

/// A simulated segment, or a mapped run of an expandable one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaidSegment {
    /// The stream whose requests it serves.
    pub stream: i64,
    /// The pool that owns it.
    pub pool: PoolKey,
    /// Whether it serves blocks of more than 1 MiB.
    pub is_large: bool,
    /// Whether it is part of an expandable segment.
    pub is_expandable: bool,
    /// Its blocks, by address; there is at least one.
    pub blocks: Vec<LaidBlock>,
}

impl LaidSegment {
    /// Address of the first byte.
    pub fn addr(&self) -> u64 {
        self.blocks.first().map_or(0, |block| block.addr)
    }

    /// Bytes of all blocks.
    pub fn size(&self) -> u64 {
        self.blocks.iter().map(|block| block.size).sum()
    }
}

impl Allocator<'_> {
    /// The segment map, by address. Each mapped run of an expandable segment counts as a segment.
    pub(crate) fn layout(&self) -> Vec<LaidSegment> {
        let mut segments = Vec::new();
        let firsts = self.blocks.iter().filter(|(_, block)| block.prev == NONE);
        firsts.for_each(|(first, _)| self.add_runs(first, &mut segments));
        segments.sort_by_key(LaidSegment::addr);
        segments
    }

    /// Add the mapped runs of the segment whose first block is `first`.
    fn add_runs(&self, first: u32, segments: &mut Vec<LaidSegment>) {
        let mut run: Vec<LaidBlock> = Vec::new();
        let mut id = first;
        while id != NONE {
            let block = &self.blocks[id];
            let state = match block.state {
                State::Live => Some(BlockState::Allocated),
                State::Pending => Some(BlockState::AwaitingFree),
                State::Free => Some(BlockState::Inactive),
                State::Unmapped | State::Unused => None,
            };
            match state {
                Some(state) => {
                    let requested = if state == BlockState::Inactive { 0 } else { block.requested };
                    run.push(LaidBlock { addr: block.addr, size: block.size, requested, state });
                }
                None => segments.extend(self.laid_run(first, std::mem::take(&mut run))),
            }
            id = block.next;
        }
        segments.extend(self.laid_run(first, run));
    }

    /// A run of the segment that a block belongs to; `None` if the run is empty.
    fn laid_run(&self, block: u32, blocks: Vec<LaidBlock>) -> Option<LaidSegment> {
        let block = &self.blocks[block];
        (!blocks.is_empty()).then(|| LaidSegment {
            stream: self.pool_streams.stream_of_list(block.list),
            pool: self.pool_streams.pool_of_list(block.list).key,
            is_large: block.list % 2 == 1,
            is_expandable: self.segments[block.segment as usize].is_expandable(),
            blocks,
        })
    }
}
