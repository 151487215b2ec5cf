//! The blocks that pin segments: they keep the free memory around them from being used or given back.

use super::case::{Case, by_stack};
use super::finding::StackBytes;
use crate::figure;
use crate::sentence::{Sentence, say};
use oomscope_analysis::segment_state::{Content, Part, Row};
use oomscope_model::{AllocId, Bytes};
use oomscope_program::share::MUCH;
use std::cmp::Reverse;

/// The pinned segments of a segment map, and the blocks that pin them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pinning {
    /// Free bytes of pinned segments.
    pub(super) hole_bytes: Bytes,
    /// Number of pinned segments.
    pub(super) segments: usize,
    /// The pinning blocks, those that keep most free bytes first.
    pub(super) blocks: Vec<AllocId>,
    /// Bytes of these blocks.
    pub(super) block_bytes: Bytes,
    /// The free bytes that the blocks of each stack keep, most first. The free bytes of a segment are shared equally among
    /// its blocks, since without any one of them the others would still pin it.
    pub(super) stacks: Vec<StackBytes>,
}

impl Pinning {
    /// Find the pinned segments at the moment of a case.
    pub(super) fn of(case: &Case<'_>) -> Self {
        let state = &case.state;
        let (mut hole_bytes, mut segments) = (Bytes::ZERO, 0);
        let mut shares: Vec<(AllocId, Bytes)> = Vec::new();
        for row in state.rows.iter().filter(|row| is_pinned(case, row)) {
            hole_bytes += row.figures.hole_bytes;
            segments += 1;
            let blocks: Vec<&Part> =
                state.parts_of(row).iter().filter(|part| part.content.is_block()).collect();
            let each = row.figures.hole_bytes / (blocks.len().max(1) as i64);
            let known = blocks.iter().filter_map(|part| part.content.allocation());
            shares.extend(known.map(|id| (id, each)));
        }
        shares.sort_unstable_by_key(|&(id, bytes)| (Reverse(bytes), id));
        let blocks: Vec<AllocId> = shares.iter().map(|&(id, _)| id).collect();
        Self {
            hole_bytes,
            segments,
            block_bytes: blocks.iter().map(|&id| case.recording.size(id)).sum::<Bytes>(),
            blocks,
            stacks: by_stack(shares.into_iter().map(|(id, bytes)| (case.recording.stack(id), bytes))),
        }
    }

    /// The small blocks that keep much memory, in a sentence.
    pub(super) fn sentence(&self) -> Sentence {
        say!(
            "{} in {} {} {} of free memory in {}",
            figure::bytes(self.block_bytes),
            figure::counted(self.blocks.len(), "block"),
            if self.blocks.len() == 1 { "keeps" } else { "keep" },
            figure::bytes(self.hole_bytes),
            figure::counted(self.segments, "segment")
        )
    }
}

fn is_pinned(case: &Case<'_>, row: &Row) -> bool {
    let figures = &row.figures;
    let is_reserved = !case.state.groups[row.group].key.is_outside;
    is_reserved && 0 < figures.blocks && MUCH.is_reached(figures.hole_bytes, figures.reserved_bytes)
}

/// Bytes of all holes, largest first.
pub(super) fn hole_sizes(case: &Case<'_>) -> Vec<Bytes> {
    let parts = case.state.parts.iter().filter(|part| part.content == Content::Hole);
    let mut sizes: Vec<Bytes> = parts.map(|part| part.size).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes
}
