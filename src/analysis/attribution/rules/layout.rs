//! Where blocks lie: parameters are made before anything is given back, so they fill the first segments without holes.

use super::View;
use crate::model::allocator_sizes::{MIN_LARGE_ALLOC, ROUND_LARGE, SMALL_SIZE};
use crate::model::{AllocId, Block, Segment};
use foldhash::HashMap;

/// A live block of unknown purpose.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    pub(super) id: AllocId,
    pub(super) size: i64,
    pub(super) is_small: bool,
    /// Where it ends.
    end: u64,
    start: u64,
    /// Whether nothing shows that something had been given back before it was made.
    pub(super) is_early: bool,
}

impl Placed {
    /// Whether another block follows directly.
    pub(super) fn touches(&self, next: &Self) -> bool {
        self.end == next.start
    }
}

/// The sizes of segments for blocks that share them: of small blocks, of large ones.
#[derive(Default)]
struct Usual([Option<i64>; 2]);

impl Usual {
    /// Whether a segment is what the allocator makes for its first block.
    fn is_made_for(&mut self, segment: &Segment, first: &Block) -> bool {
        if MIN_LARGE_ALLOC <= first.size {
            return segment.size.saturating_sub(first.size) < ROUND_LARGE;
        }
        let usual = &mut self.0[usize::from(SMALL_SIZE < first.size)];
        *usual.get_or_insert(segment.size) == segment.size
    }
}

/// The blocks in the order of their addresses, older ones first. So many segments among those of the parameters may be none of theirs.
pub(super) fn placed(view: &View<'_>, ids: &[AllocId], patience: usize) -> Vec<Placed> {
    let addr = |id: AllocId| view.timeline.lifetimes.addr(id, &view.timeline.events);
    let ids: HashMap<u64, AllocId> = ids.iter().map(|&id| (addr(id), id)).collect();
    let table = &view.timeline.segments;
    let mut segments: Vec<&Segment> = table.segments.iter().collect();
    segments.sort_by_key(|segment| view.order.key(segment.addr));
    let (mut out, mut others) = (Vec::new(), 0);
    let mut usual = Usual::default();
    for segment in segments {
        let blocks = table.blocks_of(segment);
        let first_at = blocks.iter().position(Block::is_active);
        let first = first_at.and_then(|at| blocks.get(at));
        let is_other = !segment.is_expandable && first.is_none_or(|first| !usual.is_made_for(segment, first));
        others += usize::from(is_other);
        let mut is_behind_hole = is_other || patience < others;
        for block in blocks {
            let id = ids.get(&block.addr).filter(|_| block.is_active());
            let Some(&id) = id else {
                is_behind_hole = true;
                continue;
            };
            out.push(Placed {
                id,
                size: view.size(id),
                is_small: block.size <= SMALL_SIZE,
                start: block.addr,
                end: block.addr.saturating_add(block.size.max(0).cast_unsigned()),
                is_early: !is_behind_hole,
            });
        }
    }
    out
}
