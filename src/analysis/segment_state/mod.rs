//! The memory map at a moment: what every reserved byte is used for.
//!
//! [`SegmentIndex`] holds what stays the same from moment to moment; [`SegmentIndex::at`] answers for
//! one moment. A [`Row`] is a segment, or all mapped runs of one expandable segment. Its [`Part`]s
//! are in address order and tile it without gap or overlap, whatever the file says.
//!
//! How exact the picture is depends on [`Basis`]. After the last event it is the snapshot's own
//! record of segments and blocks. Before, it follows from the events: a block is known to take its
//! requested bytes, rounded up to [`MIN_BLOCK_BYTES`], except that blocks which survive the
//! recording have their true size at every moment. What no block is known to take is a hole. In
//! segments of the large pool the allocator keeps up to [`MAX_SLACK_BYTES`] with a block rather than
//! split them off, and no event tells; there, an earlier hole may be that much smaller in truth.

mod builder;
mod contradictions;
mod end;
mod figures;
mod fit;
mod index;
mod pins;
mod reserved;
mod tiling;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;

pub use contradictions::{Contradiction, Contradictions};
pub use figures::Figures;
pub use fit::RequestFit;
pub use index::SegmentIndex;
pub use pins::Pinned;

use crate::model::{AllocId, Moment, PoolKey};
use std::ops::Range;

/// Blocks are multiples of this size.
pub const MIN_BLOCK_BYTES: i64 = 512;

/// Up to here a request is served by the small pool.
pub const MAX_SMALL_BYTES: i64 = 1 << 20;

/// What a block of the large pool may keep beyond its rounded request.
pub const MAX_SLACK_BYTES: i64 = 1 << 20;

/// Where a map comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The snapshot's segments and blocks: exact.
    EndState,
    /// The events, undone from the snapshot's segments: holes may include slack of large blocks.
    Events,
    /// The events alone: what they neither allocate nor free is missing.
    TraceOnly,
}

/// Which of a pool's two halves a segment serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SizeClass {
    /// Requests up to [`MAX_SMALL_BYTES`].
    Small,
    /// Larger requests.
    Large,
}

/// What holes are interchangeable: a request can only use holes of its own key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKey {
    /// Whether these are blocks that lie in no segment.
    pub is_outside: bool,
    /// The pool; `None` where it was not recorded, or where all memory is of the default pool as
    /// far as the file tells.
    pub pool: Option<PoolKey>,
    /// The stream; `None` where it was not recorded.
    pub stream: Option<i64>,
    /// Small or large; `None` where that cannot be known.
    pub class: Option<SizeClass>,
}

/// What a part of a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A block in use. `None` if only the end state knows it.
    Allocated(Option<AllocId>),
    /// A block that the program gave back and that waits for a stream.
    Awaiting(Option<AllocId>),
    /// Reserved and free.
    Hole,
    /// Addresses of an expandable segment without memory. Not reserved.
    Unmapped,
}

impl Content {
    /// The allocation, if the part is a block of one.
    pub fn allocation(self) -> Option<AllocId> {
        match self {
            Self::Allocated(id) | Self::Awaiting(id) => id,
            Self::Hole | Self::Unmapped => None,
        }
    }

    /// Whether the part is a block.
    pub fn is_block(self) -> bool {
        matches!(self, Self::Allocated(_) | Self::Awaiting(_))
    }
}

/// A stretch of addresses with one use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Address of the first byte.
    pub addr: u64,
    /// Bytes, more than 0; of a block with its rounding.
    pub size: i64,
    /// Bytes that the program asked for, from `addr`; 0 for what is no block, at most `size`.
    pub requested: i64,
    /// What it is.
    pub content: Content,
}

impl Part {
    /// Address behind the last byte.
    pub fn past_end(&self) -> u64 {
        self.addr.saturating_add(self.size.unsigned_abs())
    }

    /// Bytes of a block that nobody asked for.
    pub fn rounding(&self) -> i64 {
        if self.content.is_block() { self.size - self.requested } else { 0 }
    }
}

/// A segment, all mapped runs of an expandable segment, or touching blocks outside of any segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Address of the first byte.
    pub addr: u64,
    /// Address behind the last byte.
    pub past_end: u64,
    /// Which of [`SegmentState::groups`] it belongs to.
    pub group: usize,
    /// Whether it is an expandable segment.
    pub is_expandable: bool,
    /// Its parts: a range of [`SegmentState::parts`].
    pub parts: Range<usize>,
    /// Its sums.
    pub figures: Figures,
}

/// Rows that share a pool, a stream and a size class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// What they share.
    pub key: GroupKey,
    /// Number of rows.
    pub rows: usize,
    /// Their sums.
    pub figures: Figures,
}

/// The memory map at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentState {
    /// The moment.
    pub moment: Moment,
    /// How it is known.
    pub basis: Basis,
    /// Rows by address; those that are not reserved come last.
    pub rows: Vec<Row>,
    /// The parts of all rows, each row's in address order.
    pub parts: Vec<Part>,
    /// Sums by group, ordered by key.
    pub groups: Vec<Group>,
    /// Sums over what is reserved.
    pub total: Figures,
    /// Sums over blocks that lie in no segment.
    pub outside: Figures,
    /// What does not fit together.
    pub contradictions: Contradictions,
}

impl SegmentState {
    /// The parts of a row.
    pub fn parts_of(&self, row: &Row) -> &[Part] {
        &self.parts[row.parts.clone()]
    }

    /// The row that holds an address.
    pub fn row_at(&self, addr: u64) -> Option<usize> {
        let holds = |row: &Row| row.addr <= addr && addr < row.past_end;
        let reserved = self.rows.partition_point(|row| !self.groups[row.group].key.is_outside);
        let (inside, outside) = self.rows.split_at(reserved);
        let before = |rows: &[Row]| rows.partition_point(|row| row.addr <= addr).checked_sub(1);
        let found = before(inside).filter(|&i| holds(&inside[i]));
        found.or_else(|| before(outside).filter(|&i| holds(&outside[i])).map(|i| reserved + i))
    }

    /// Where an allocation is: its row and its part.
    pub fn find(&self, addr: u64, id: AllocId) -> Option<(usize, usize)> {
        let row = self.row_at(addr)?;
        let parts = self.rows[row].parts.clone();
        let at = self.parts[parts.clone()].partition_point(|part| part.addr < addr);
        let part = parts.start + at;
        let is_it = self.parts.get(part).is_some_and(|part| part.content.allocation() == Some(id));
        (is_it && parts.contains(&part)).then_some((row, part))
    }
}
