//! The simulated memory map at a moment.

use super::allocator::Allocator;
use super::blocks::{NONE, State};
use super::replay::Replay;
use super::requests::Requests;
use super::rules::Rules;
use crate::model::{BlockState, Moment, PoolKey};

/// A simulated block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaidBlock {
    /// Address of the first byte.
    pub addr: u64,
    /// Bytes, with rounding.
    pub size: u64,
    /// Bytes that were asked for; 0 if it is free.
    pub requested: u64,
    /// What it is used for.
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

    /// Bytes in all.
    pub fn size(&self) -> u64 {
        self.blocks.iter().map(|block| block.size).sum()
    }
}

/// The memory map after the requests up to a moment, by address. Requests that cannot be met are left
/// out.
pub(super) fn at(requests: &Requests, rules: Rules, moment: Moment) -> Vec<LaidSegment> {
    let mut replay = Replay::new(requests, rules);
    for request in requests.all.iter().take_while(|request| request.event < moment.0) {
        replay.step(request);
        replay.allocator.log.clear();
    }
    read(&replay.allocator)
}

fn read(allocator: &Allocator<'_>) -> Vec<LaidSegment> {
    let mut segments = Vec::new();
    for (first, block) in allocator.blocks.iter().filter(|(_, block)| block.prev == NONE) {
        let list = block.list;
        let mut run: Vec<LaidBlock> = Vec::new();
        let mut end_run = |run: &mut Vec<LaidBlock>| {
            if !run.is_empty() {
                segments.push(LaidSegment {
                    stream: allocator.lanes.stream_of_list(list),
                    pool: allocator.lanes.pool_of_list(list).key,
                    is_large: list % 2 == 1,
                    is_expandable: allocator.segments[block.segment as usize].is_expandable(),
                    blocks: std::mem::take(run),
                });
            }
        };
        let mut id = first;
        while id != NONE {
            let block = &allocator.blocks[id];
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
                None => end_run(&mut run),
            }
            id = block.next;
        }
        end_run(&mut run);
    }
    segments.sort_by_key(LaidSegment::addr);
    segments
}
