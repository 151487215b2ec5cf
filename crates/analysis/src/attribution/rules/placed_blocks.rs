//! Where blocks lie: parameters are made before anything is freed, so they fill the first segments without holes.

use crate::attribution::view::View;
use foldhash::HashMap;
use oomscope_model::allocator_sizes::{MIN_LARGE_ALLOC, ROUND_LARGE, SMALL_SIZE};
use oomscope_model::{AllocId, Block, Bytes, Segment};
use std::collections::BTreeMap;

/// A live block of unknown purpose.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedBlock {
    pub(super) id: AllocId,
    pub(super) size: Bytes,
    /// Its number among all such blocks, older ones first.
    pub(super) place: usize,
    pub(super) is_small: bool,
    /// Whether nothing shows that something had been freed before it was made.
    pub(super) is_early: bool,
    start: u64,
    end: u64,
}

impl PlacedBlock {
    /// Whether another block of unknown purpose follows directly.
    pub(super) fn touches(&self, next: &Self) -> bool {
        self.place + 1 == next.place && self.end == next.start
    }
}

/// Blocks by size, each in the order of their places.
pub(super) type PlacedBySize = BTreeMap<Bytes, Vec<PlacedBlock>>;

/// Some blocks by size.
pub(super) fn placed_by_size(placed: &[PlacedBlock]) -> PlacedBySize {
    let mut out = PlacedBySize::new();
    for &block in placed {
        out.entry(block.size).or_default().push(block);
    }
    out
}

/// The sizes of segments that blocks share: of small blocks, and of large ones.
#[derive(Default)]
struct SharedSegmentSizes([Option<Bytes>; 2]);

impl SharedSegmentSizes {
    /// Whether the allocator made a segment for its first block. The first segment that blocks of a kind share shows the
    /// size of all of them.
    fn is_made_for(&mut self, segment: &Segment, first: &Block) -> bool {
        if MIN_LARGE_ALLOC <= first.size {
            return segment.size - first.size < ROUND_LARGE;
        }
        let shared = &mut self.0[usize::from(SMALL_SIZE < first.size)];
        *shared.get_or_insert(segment.size) == segment.size
    }
}

/// The blocks in the order of their addresses, older ones first. Up to `other_segments` segments in the region of the
/// parameters may have been made for something else.
pub(super) fn placed_blocks(view: &View<'_>, ids: &[AllocId], other_segments: usize) -> Vec<PlacedBlock> {
    let addr = |id: AllocId| view.timeline.addr(id);
    let ids: HashMap<u64, AllocId> = ids.iter().map(|&id| (addr(id), id)).collect();
    let table = &view.timeline.segments;
    let mut segments: Vec<&Segment> = table.segments.iter().collect();
    segments.sort_by_key(|segment| view.order.key(segment.addr));
    let (mut out, mut others) = (Vec::new(), 0);
    let mut shared = SharedSegmentSizes::default();
    for segment in segments {
        let blocks = table.blocks_of(segment);
        let first = blocks.iter().find(|block| block.is_active());
        let is_other =
            !segment.is_expandable && first.is_none_or(|first| !shared.is_made_for(segment, first));
        others += usize::from(is_other);
        let mut is_behind_hole = is_other || other_segments < others;
        for block in blocks {
            let id = ids.get(&block.addr).filter(|_| block.is_active());
            let Some(&id) = id else {
                is_behind_hole = true;
                continue;
            };
            out.push(PlacedBlock {
                id,
                size: view.size(id),
                place: out.len(),
                is_small: block.size <= SMALL_SIZE,
                is_early: !is_behind_hole,
                start: block.addr,
                end: block.addr.saturating_add(block.size.as_u64()),
            });
        }
    }
    out
}
