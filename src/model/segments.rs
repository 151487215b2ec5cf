//! Segments and blocks as the snapshot's end state has them.

use super::{DeviceId, PoolKey, StackId, StrId};
use std::ops::Range;

/// What a block is used for (`state` in the snapshot).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockState {
    /// In use.
    Allocated,
    /// Freed by the program, but another stream may still use it (`active_pending_free`; the docs
    /// say `active_awaiting_free`).
    AwaitingFree,
    /// Cached and free.
    Inactive,
}

/// A part of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Address of the first byte.
    pub addr: u64,
    /// Size that the allocator gave it, with rounding.
    pub size: i64,
    /// Size that the program asked for; stale for inactive blocks.
    pub requested: i64,
    /// What it is used for.
    pub state: BlockState,
    /// Where it was allocated.
    pub stack: StackId,
}

impl Block {
    /// Whether the block counts as active: in use, or waiting for a stream.
    pub fn is_active(&self) -> bool {
        self.state != BlockState::Inactive
    }
}

/// Memory that the driver gave out in one piece, or one contiguous mapped run of an expandable
/// segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The device, or host memory.
    pub device: DeviceId,
    /// Address of the first byte.
    pub addr: u64,
    /// Bytes in all.
    pub size: i64,
    /// The stream whose requests it serves.
    pub stream: Option<i64>,
    /// The pool that owns it; `None` before torch 2.1, which did not write it.
    pub pool: Option<PoolKey>,
    /// `small` or `large`.
    pub kind: Option<StrId>,
    /// Whether it is part of an expandable segment.
    pub is_expandable: bool,
    /// What triggered it.
    pub stack: StackId,
    /// Its blocks: a range of [`SegmentTable::blocks`].
    pub blocks: Range<usize>,
}

/// Segments in file order, and their blocks.
#[derive(Debug, Default, Clone)]
pub struct SegmentTable {
    /// The segments.
    pub segments: Vec<Segment>,
    /// The blocks of all segments, each segment's in address order.
    pub blocks: Vec<Block>,
}

impl SegmentTable {
    /// The blocks of a segment.
    pub fn blocks_of(&self, segment: &Segment) -> &[Block] {
        &self.blocks[segment.blocks.clone()]
    }

    /// Bytes reserved from the driver.
    pub fn reserved(&self) -> i64 {
        self.segments.iter().fold(0, |sum, s| sum.saturating_add(s.size))
    }
}
