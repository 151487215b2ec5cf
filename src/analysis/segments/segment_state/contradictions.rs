//! What does not fit together in a map.

use crate::model::AllocId;

/// A kind of contradiction between segments, blocks and events at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Contradiction {
    /// Blocks in no segment.
    OutsideOfSegments,
    /// Blocks that reach beyond the end of their segment.
    BeyondSegment,
    /// Blocks that share bytes with the block before them.
    Overlap,
    /// Blocks or segments without a positive size.
    NoSize,
    /// Places in the snapshot's segments that no block, or more than one, describes.
    NotTiled,
    /// Segments that share addresses with the one before them.
    SegmentsOverlap,
    /// Blocks of the end state that no event or earlier state explains.
    BlockWithoutAllocation,
    /// Allocations that should be live at the end, and that the end state does not have.
    AllocationWithoutBlock,
}

impl Contradiction {
    const ALL: [Self; 8] = [
        Self::OutsideOfSegments,
        Self::BeyondSegment,
        Self::Overlap,
        Self::NoSize,
        Self::NotTiled,
        Self::SegmentsOverlap,
        Self::BlockWithoutAllocation,
        Self::AllocationWithoutBlock,
    ];

    /// What is counted, to be read after a number.
    pub fn describe(self) -> &'static str {
        match self {
            Self::OutsideOfSegments => "blocks outside of any segment",
            Self::BeyondSegment => "blocks that reach beyond their segment",
            Self::Overlap => "blocks that overlap others",
            Self::NoSize => "blocks or segments without a size",
            Self::NotTiled => "places in segments that no block or several describe",
            Self::SegmentsOverlap => "segments that overlap others",
            Self::BlockWithoutAllocation => "blocks that no event explains",
            Self::AllocationWithoutBlock => "allocations that the end state does not have",
        }
    }
}

/// How often each kind occurs.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Contradictions {
    counts: [u64; Contradiction::ALL.len()],
    /// Allocations that no part shows, because others take all of their bytes.
    pub hidden: Vec<AllocId>,
    /// Reserved bytes by the sum of all segment events, less what the map has. Not 0 where segment
    /// events contradict each other.
    pub unexplained_reserved_bytes: i64,
}

impl Contradictions {
    pub(super) fn count(&mut self, kind: Contradiction) {
        self.add(kind, 1);
    }

    pub(super) fn add(&mut self, kind: Contradiction, n: u64) {
        self.counts[kind as usize] += n;
    }

    /// How often a kind occurs.
    pub fn get(&self, kind: Contradiction) -> u64 {
        self.counts[kind as usize]
    }

    /// The kinds that occur, with their number.
    pub fn iter(&self) -> impl Iterator<Item = (Contradiction, u64)> + '_ {
        Contradiction::ALL.into_iter().map(|kind| (kind, self.get(kind))).filter(|&(_, n)| n != 0)
    }

    /// Whether everything fits together.
    pub fn is_empty(&self) -> bool {
        self.total() == 0 && self.unexplained_reserved_bytes == 0
    }

    /// Contradictions in all.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}
