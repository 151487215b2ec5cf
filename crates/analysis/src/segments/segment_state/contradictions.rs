//! Contradictions in a segment map.

use oomscope_model::{AllocId, Bytes};

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
    /// Allocations that are live at the end by the events, and are missing in the end state.
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

    /// A description of the kind, to be read after a number.
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

/// The contradictions of a map, by kind.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Contradictions {
    counts: [u64; Contradiction::ALL.len()],
    /// Allocations without a part, because others take all of their bytes.
    pub hidden: Vec<AllocId>,
    /// Reserved bytes by the segment events, less those of the map. Not 0 if segment events contradict each
    /// other.
    pub unexplained_reserved_bytes: Bytes,
}

impl Contradictions {
    pub(super) fn count(&mut self, kind: Contradiction) {
        self.add(kind, 1);
    }

    pub(super) fn add(&mut self, kind: Contradiction, n: u64) {
        self.counts[kind as usize] += n;
    }

    /// Number of contradictions of a kind.
    pub fn get(&self, kind: Contradiction) -> u64 {
        self.counts[kind as usize]
    }

    /// The kinds that occur, with their number.
    pub fn iter(&self) -> impl Iterator<Item = (Contradiction, u64)> + '_ {
        Contradiction::ALL.into_iter().map(|kind| (kind, self.get(kind))).filter(|&(_, n)| n != 0)
    }

    /// True if there is no contradiction.
    pub fn is_empty(&self) -> bool {
        self.total() == 0 && self.unexplained_reserved_bytes == 0
    }

    /// Number of contradictions of all kinds.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}
