//! Figures of each pool and stream after the last event, with the free memory that no other can get.

use oomscope_model::allocator_sizes::{LARGE_BUFFER, SMALL_BUFFER};
use oomscope_model::{Block, BlockState, Bytes, PoolKey, Recording, Segment, Snapshot};
use serde::Serialize;
use std::collections::BTreeMap;

/// Figures of one pool and stream after the last event. Sizes are in bytes, those of blocks with rounding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PoolStats {
    /// The pool; `None` if it was not recorded.
    pub pool: Option<[i64; 2]>,
    /// The stream; `None` if it was not recorded.
    pub stream: Option<i64>,
    /// Number of segments.
    pub segments: usize,
    /// Segment bytes.
    pub reserved: Bytes,
    /// Bytes of active blocks.
    pub active: Bytes,
    /// Bytes of inactive blocks.
    pub free: Bytes,
    /// Free bytes that no other pool or stream can get, because their segment, or their page of an
    /// expandable segment, is partly in use. In a private pool all free bytes count, since it keeps its
    /// segments as long as its graph or the program keeps the pool.
    pub free_for_none_else: Bytes,
}

/// The figures of all pools and streams that own segments, by pool, then stream.
pub fn pool_stats(recording: &Recording) -> Vec<PoolStats> {
    let mut out: BTreeMap<(Option<PoolKey>, Option<i64>), PoolStats> = BTreeMap::new();
    let table = &recording.segments;
    for segment in &table.segments {
        let stats = out.entry((segment.pool, segment.stream)).or_insert_with(|| PoolStats {
            pool: segment.pool.map(|PoolKey(a, b)| [a, b]),
            stream: segment.stream,
            segments: 0,
            reserved: Bytes::ZERO,
            active: Bytes::ZERO,
            free: Bytes::ZERO,
            free_for_none_else: Bytes::ZERO,
        });
        let blocks = table.blocks_of(segment);
        let sum = |blocks: &mut dyn Iterator<Item = &Block>| {
            blocks.map(|block| block.size.or_zero()).sum::<Bytes>()
        };
        let active = sum(&mut blocks.iter().filter(|block| block.is_active()));
        let free = (segment.size.or_zero() - active).or_zero();
        let is_private = segment.pool.is_some_and(PoolKey::is_private);
        let for_others =
            if is_private { Bytes::ZERO } else { free_for_others(recording.snapshot(), segment, blocks) };
        stats.segments += 1;
        stats.reserved += segment.size;
        stats.active += active;
        stats.free += free;
        stats.free_for_none_else += (free - for_others).or_zero();
    }
    out.into_values().collect()
}

/// Bytes of a segment that emptying the cache would give back to the driver. Expandable segments are
/// unmapped page by page.
fn free_for_others(snapshot: &Snapshot, segment: &Segment, blocks: &[Block]) -> Bytes {
    let is_free = |block: &Block| block.state == BlockState::Inactive;
    if blocks.iter().all(is_free) {
        return segment.size.or_zero();
    }
    if !segment.is_expandable {
        return Bytes::ZERO;
    }
    let is_small = segment.kind.is_some_and(|kind| snapshot.strings.is(kind, b"small"));
    let page = if is_small { SMALL_BUFFER } else { LARGE_BUFFER };
    // Pages are aligned to the segment's start; only those that are wholly free are unmapped.
    let whole_pages = |block: &Block| {
        let start = Bytes::of_size(block.addr.saturating_sub(segment.addr));
        let first = (start + (page - Bytes(1))) / page;
        let last = (start + block.size.or_zero()) / page;
        page * last.saturating_sub(first).max(0)
    };
    blocks.iter().filter(|block| is_free(block)).map(whole_pages).sum::<Bytes>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::alone;
    use oomscope_model::{Anchor, DeviceId, EventTable, SegmentTable, Timeline};
    use oomscope_model::{StackId, TimelineInput};

    const MIB: i64 = 1 << 20;

    /// A segment with blocks of sizes in MiB; negative ones are free.
    fn add(table: &mut SegmentTable, addr: u64, pool: PoolKey, is_expandable: bool, blocks: &[i64]) {
        let first = table.blocks.len();
        let mut at = addr;
        for &size in blocks {
            let state = if size < 0 { BlockState::Inactive } else { BlockState::Allocated };
            let size = Bytes(size.abs() * MIB);
            table.blocks.push(Block { addr: at, size, requested: size, state, stack: StackId::EMPTY });
            at += size.unsigned_abs();
        }
        table.segments.push(Segment {
            device: DeviceId(0),
            addr,
            size: Bytes::of_size(at - addr),
            stream: Some(0),
            pool: Some(pool),
            kind: None,
            is_expandable,
            stack: StackId::EMPTY,
            blocks: first..table.blocks.len(),
        });
    }

    #[test]
    fn only_whole_segments_and_pages_serve_others() {
        let mut segments = SegmentTable::default();
        add(&mut segments, 0, PoolKey(0, 0), false, &[4, -16]);
        add(&mut segments, 1 << 30, PoolKey(0, 0), false, &[-20]);
        add(&mut segments, 2 << 30, PoolKey(0, 0), true, &[10, -50, 20]);
        add(&mut segments, 3 << 30, PoolKey(0, 1), false, &[-8]);
        let recording = alone(Timeline::build(TimelineInput {
            device: DeviceId(0),
            events: EventTable::default(),
            segments,
            anchor: Anchor::EndState,
        }));
        let found = pool_stats(&recording);
        let figures = |stats: &PoolStats| {
            [stats.reserved, stats.active, stats.free, stats.free_for_none_else].map(|bytes| bytes / MIB)
        };
        let found: Vec<_> = found.iter().map(figures).collect();
        // Of the 50 free MiB of the expandable segment, two pages of 20 are whole.
        assert_eq!(found, [[120, 34, 86, 26], [8, 0, 8, 8]]);
    }
}
