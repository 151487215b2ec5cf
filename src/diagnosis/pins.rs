//! The blocks that keep holes apart.

use super::code::by_stack;
use super::{Context, StackBytes};
use crate::analysis::segment_state::{Content, Part, Row};
use crate::model::AllocId;

/// Of every row with holes: its blocks, and the free bytes for which each of them answers. The free
/// bytes of a row are shared equally among its blocks: without any one of them the row would still be
/// kept by the others.
fn shares(context: &Context<'_>) -> Vec<(AllocId, i64)> {
    let state = &context.state;
    let mut shares = Vec::new();
    for row in state.rows.iter().filter(|row| is_cut_up(context, row)) {
        let blocks: Vec<&Part> = state.parts_of(row).iter().filter(|part| part.content.is_block()).collect();
        let each = row.figures.hole_bytes / (blocks.len().max(1) as i64);
        let known = blocks.iter().filter_map(|part| part.content.allocation());
        shares.extend(known.map(|id| (id, each)));
    }
    shares
}

/// Whether holes are a good part of a row that blocks keep.
fn is_cut_up(context: &Context<'_>, row: &Row) -> bool {
    let figures = &row.figures;
    let is_reserved = !context.state.groups[row.group].key.is_outside;
    is_reserved && 0 < figures.blocks && figures.reserved_bytes / 4 <= figures.hole_bytes
}

/// The stacks of those blocks, with the free bytes that they keep; those that keep most come first.
pub(super) fn pinning(context: &Context<'_>) -> Vec<StackBytes> {
    by_stack(shares(context).into_iter().map(|(id, bytes)| (context.allocation(id).stack, bytes)))
}

/// The blocks that keep most free bytes, each.
pub(super) fn blocks(context: &Context<'_>, limit: usize) -> Vec<AllocId> {
    let mut shares = shares(context);
    shares.sort_unstable_by_key(|&(id, bytes)| (std::cmp::Reverse(bytes), id));
    shares.into_iter().take(limit).map(|(id, _)| id).collect()
}

/// Free bytes in rows that blocks keep, and how many rows those are.
pub(super) fn kept_holes(context: &Context<'_>) -> (i64, usize) {
    let rows = context.state.rows.iter().filter(|row| is_cut_up(context, row));
    rows.fold((0, 0), |(bytes, n), row| (row.figures.hole_bytes.saturating_add(bytes), n + 1))
}

/// Bytes of the holes, largest first.
pub(super) fn holes(context: &Context<'_>) -> Vec<i64> {
    let parts = context.state.parts.iter().filter(|part| part.content == Content::Hole);
    let mut sizes: Vec<i64> = parts.map(|part| part.size).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes
}
