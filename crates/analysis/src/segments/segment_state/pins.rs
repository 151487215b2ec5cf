//! Blocks that keep mostly empty segments from going back to the driver.

use super::part::{Content, Part};
use super::state::SegmentState;
use oomscope_model::Bytes;

/// A mostly empty row, and the blocks in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// Index into [`SegmentState::rows`].
    pub row: usize,
    /// Free bytes that cannot go back to the driver while the blocks are there.
    pub hole_bytes: Bytes,
    /// The blocks, largest first.
    pub blocks: Vec<Part>,
}

impl SegmentState {
    /// The blocks of a row, largest first.
    pub fn blocks_in(&self, row: usize) -> Vec<Part> {
        let Some(row) = self.rows.get(row) else { return Vec::new() };
        let is_block = |part: &&Part| part.content.is_block();
        let mut blocks: Vec<Part> = self.parts_of(row).iter().filter(is_block).copied().collect();
        blocks.sort_by_key(|part| (std::cmp::Reverse(part.size), part.addr));
        blocks
    }

    /// Rows that are at least half free and have from one to `max_blocks` blocks, most free bytes first. Rows
    /// without a block are not among them, since the allocator can give them back.
    pub fn pinned(&self, max_blocks: usize) -> Vec<Pinned> {
        let is_pinned = |row: &super::Row| {
            let figures = &row.figures;
            (1..=max_blocks).contains(&figures.blocks) && figures.reserved_bytes / 2 <= figures.hole_bytes
        };
        let is_reserved = |row: &super::Row| !self.groups[row.group].key.is_outside;
        let rows = self.rows.iter().enumerate().filter(|(_, row)| is_reserved(row) && is_pinned(row));
        let mut pinned: Vec<Pinned> = rows
            .map(|(i, row)| Pinned { row: i, hole_bytes: row.figures.hole_bytes, blocks: self.blocks_in(i) })
            .collect();
        pinned.sort_by_key(|pin| (std::cmp::Reverse(pin.hole_bytes), pin.row));
        pinned
    }

    /// Bytes of segments without any block, which the allocator only caches.
    pub fn unused_bytes(&self) -> Bytes {
        let unused = self.rows.iter().filter(|row| row.figures.blocks == 0);
        unused.map(|row| row.figures.reserved_bytes).sum::<Bytes>()
    }

    /// The parts before and after a part of a row; `None` at the ends of the row, and for holes.
    pub fn neighbours(&self, row: usize, part: usize) -> [Option<&Part>; 2] {
        let Some(row) = self.rows.get(row) else { return [None, None] };
        let at = |i: Option<usize>| i.filter(|i| row.parts.contains(i)).and_then(|i| self.parts.get(i));
        let is_block = |part: &&Part| !matches!(part.content, Content::Hole);
        [at(part.checked_sub(1)).filter(is_block), at(part.checked_add(1)).filter(is_block)]
    }
}
