//! Segments and blocks of the snapshot's end state.

use super::{Anomalies, Anomaly, Bytes, DeviceId, PoolKey, StackId, StrId};
use std::ops::Range;

/// The state of a block (`state` in the snapshot).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockState {
    /// In use.
    Allocated,
    /// Freed by the program while another stream may still use it. torch writes `active_pending_free`; its
    /// documentation says `active_awaiting_free`.
    AwaitingFree,
    /// Free, and cached by the allocator.
    Inactive,
}

/// A part of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Address of the first byte.
    pub addr: u64,
    /// Bytes that the allocator gave it, rounding included.
    pub size: Bytes,
    /// Bytes that the program asked for; stale for inactive blocks.
    pub requested: Bytes,
    /// In use, waiting or free.
    pub state: BlockState,
    /// The stack that allocated it; empty if none was recorded.
    pub stack: StackId,
}

impl Block {
    /// True if the block counts as active: in use, or waiting for a stream.
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
    /// Bytes.
    pub size: Bytes,
    /// The stream that it serves; `None` if it was not recorded.
    pub stream: Option<i64>,
    /// The pool that owns it; `None` before torch 2.1, which did not write it.
    pub pool: Option<PoolKey>,
    /// `small` or `large`.
    pub kind: Option<StrId>,
    /// True if it is part of an expandable segment.
    pub is_expandable: bool,
    /// The stack of the request that it was reserved for; empty if none was recorded.
    pub stack: StackId,
    /// Its blocks, as a range of [`SegmentTable::blocks`].
    pub blocks: Range<usize>,
}

impl Segment {
    /// The first address after the segment.
    fn past_end(&self) -> u64 {
        self.addr.saturating_add(self.size.as_u64())
    }
}

/// Segments in file order, and their blocks.
#[derive(Debug, Default, Clone)]
pub struct SegmentTable {
    /// The segments.
    pub segments: Vec<Segment>,
    /// The blocks of all segments, each segment's in address order.
    pub blocks: Vec<Block>,
    /// Number of segments that state other sums than those of their blocks.
    pub miscounted: u64,
}

impl SegmentTable {
    /// The blocks of a segment.
    pub fn blocks_of(&self, segment: &Segment) -> &[Block] {
        &self.blocks[segment.blocks.clone()]
    }

    /// Bytes reserved from the driver.
    pub fn reserved(&self) -> Bytes {
        // Sizes come from the file: their sum may exceed 64 bits.
        self.segments.iter().map(|s| s.size).sum::<Bytes>()
    }

    /// What segments and blocks say that cannot all be true.
    pub(super) fn contradictions(&self) -> Anomalies {
        let mut anomalies = Anomalies::default();
        let unfilled = self.segments.iter().filter(|segment| !self.is_filled(segment)).count();
        anomalies.add(Anomaly::BlocksDoNotFillSegment, unfilled as u64);
        let active = self.blocks.iter().filter(|block| block.is_active());
        let too_small = active.filter(|block| block.size < block.requested).count();
        anomalies.add(Anomaly::BlockSmallerThanRequested, too_small as u64);
        let mut by_address: Vec<&Segment> = self.segments.iter().collect();
        by_address.sort_by_key(|segment| segment.addr);
        let overlapping = by_address.windows(2).filter(|pair| pair[1].addr < pair[0].past_end()).count();
        anomalies.add(Anomaly::SegmentsOverlap, overlapping as u64);
        anomalies.add(Anomaly::SegmentSumsDiffer, self.miscounted);
        anomalies
    }

    /// Whether the blocks of a segment follow one another from its start to its end.
    fn is_filled(&self, segment: &Segment) -> bool {
        let mut at = segment.addr;
        for block in self.blocks_of(segment) {
            if block.addr != at || block.size <= 0 {
                return false;
            }
            at = at.saturating_add(block.size.unsigned_abs());
        }
        0 < segment.size && at == segment.past_end()
    }
}
