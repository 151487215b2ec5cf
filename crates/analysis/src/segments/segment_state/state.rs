//! The segment map at a moment, as rows of parts.

use super::contradictions::Contradictions;
use super::figures::Figures;
use super::group::GroupKey;
use super::part::Part;
use oomscope_model::{AllocId, Moment};
use std::ops::Range;

/// The source of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The snapshot's segments and blocks: exact.
    EndState,
    /// The events, undone from the snapshot's segments. Holes may include slack of large blocks.
    Events,
    /// The events alone. Memory that they neither allocate nor free is missing.
    TraceOnly,
}

/// A segment, all mapped runs of an expandable segment, or touching blocks outside of any segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Address of the first byte.
    pub addr: u64,
    /// First address after it.
    pub past_end: u64,
    /// Its group, as an index into [`SegmentState::groups`].
    pub group: usize,
    /// True if it is an expandable segment.
    pub is_expandable: bool,
    /// Its parts, as a range of [`SegmentState::parts`].
    pub parts: Range<usize>,
    /// Its sums.
    pub figures: Figures,
}

/// Rows that share a pool, a stream and a size class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Their common properties.
    pub key: GroupKey,
    /// Number of rows.
    pub rows: usize,
    /// Their sums.
    pub figures: Figures,
}

/// The segment map at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentState {
    /// The moment.
    pub moment: Moment,
    /// Its source, and so its exactness.
    pub basis: Basis,
    /// Rows by address; those of blocks outside of any segment come last.
    pub rows: Vec<Row>,
    /// The parts of all rows, each row's in address order.
    pub parts: Vec<Part>,
    /// Groups by key.
    pub groups: Vec<Group>,
    /// Sums over reserved memory.
    pub total: Figures,
    /// Sums over blocks that lie in no segment.
    pub outside: Figures,
    /// Contradictions between segments, blocks and events.
    pub contradictions: Contradictions,
}

impl SegmentState {
    /// The parts of a row.
    pub fn parts_of(&self, row: &Row) -> &[Part] {
        &self.parts[row.parts.clone()]
    }

    /// The index of the row that holds an address; reserved rows come first.
    pub fn row_at(&self, addr: u64) -> Option<usize> {
        let holds = |row: &Row| row.addr <= addr && addr < row.past_end;
        let reserved = self.rows.partition_point(|row| !self.groups[row.group].key.is_outside);
        let (inside, outside) = self.rows.split_at(reserved);
        let before = |rows: &[Row]| rows.partition_point(|row| row.addr <= addr).checked_sub(1);
        let found = before(inside).filter(|&i| holds(&inside[i]));
        found.or_else(|| before(outside).filter(|&i| holds(&outside[i])).map(|i| reserved + i))
    }

    /// The indices of the row and the part of an allocation at an address; `None` if it has no part there.
    pub fn find(&self, addr: u64, id: AllocId) -> Option<(usize, usize)> {
        let row = self.row_at(addr)?;
        let parts = self.rows[row].parts.clone();
        let at = self.parts[parts.clone()].partition_point(|part| part.addr < addr);
        let part = parts.start + at;
        let is_it = self.parts.get(part).is_some_and(|part| part.content.allocation() == Some(id));
        (is_it && parts.contains(&part)).then_some((row, part))
    }
}
