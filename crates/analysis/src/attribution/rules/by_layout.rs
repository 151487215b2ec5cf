//! Blocks without stacks from before the recording, or where nothing was recorded: where they lie and how often each size
//! is there.

use super::by_counts;
use super::copies_per_parameter::{CopiesPerParameter, count_parameters};
use super::placed_blocks::{PlacedBlock, PlacedBySize, placed_blocks, placed_by_size};
use super::workspaces;
use crate::attribution::claims::{Blocks, Claims, Verdict};
use crate::attribution::view::View;
use crate::attribution::{Category, RuleId};
use oomscope_model::{AllocId, Bytes};

/// A model that is made on the device leaves at most this many segments of scratch memory between its parameters.
const MAX_OTHER_SEGMENTS: usize = 3;

/// One more segment is taken for scratch memory only if that explains at least half as many bytes more.
const GAIN_PART: i64 = 2;

/// Claim the blocks; those of sizes whose number shows nothing stay unknown.
pub(super) fn claim(view: &View<'_>, ids: &[AllocId], claims: &mut Claims) {
    let ids: Vec<AllocId> = workspaces::without_possible_workspaces(view, ids);
    let Layout { placed, by_size, copies } = best_layout(view, &ids);
    let is_order_shown = view.order.is_shown();
    if by_counts::claim(&placed, &by_size, hole_bytes(view), is_order_shown, claims) {
        return;
    }
    // Which of several blocks of a size are the parameters, only their order tells.
    let Some(copies) = copies.filter(|_| is_order_shown) else { return };
    for (size, mut blocks) in by_size {
        let Some(own) = count_parameters(&blocks, copies.each) else { continue };
        blocks.sort_by_key(|block| (!block.is_early, block.place));
        let known = Blocks { alike: blocks.len(), known: own, known_as: Category::Parameter };
        let mut later = blocks.split_off(own.min(blocks.len()));
        later.sort_by_key(|block| block.place);
        let verdict = RuleId::LiesFirst.verdict();
        for block in &blocks {
            claims.claim_with_blocks(block.id, verdict, size, known);
        }
        claim_later(&later, own.saturating_mul(copies.gradients), known, claims);
    }
}

/// The bytes that are free between active blocks of the same segment.
fn hole_bytes(view: &View<'_>) -> Bytes {
    let table = &view.timeline.segments;
    let mut total = Bytes::ZERO;
    for segment in &table.segments {
        // Free bytes since the last active block; `None` before the first.
        let mut since_active = None;
        for block in table.blocks_of(segment) {
            if block.is_active() {
                total += since_active.replace(Bytes::ZERO).unwrap_or_default();
            } else {
                since_active = since_active.map(|bytes| bytes + block.size.or_zero());
            }
        }
    }
    total
}

/// Blocks with their places, and the number of copies that follows from it.
struct Layout {
    placed: Vec<PlacedBlock>,
    by_size: PlacedBySize,
    copies: Option<CopiesPerParameter>,
}

impl Layout {
    fn of(view: &View<'_>, ids: &[AllocId], other_segments: usize) -> Self {
        let placed = placed_blocks(view, ids, other_segments);
        let by_size = placed_by_size(&placed);
        let copies = CopiesPerParameter::of(&placed, &by_size);
        Self { placed, by_size, copies }
    }

    fn explained_bytes(&self) -> Bytes {
        self.copies.map_or(Bytes::ZERO, |copies| copies.explained_bytes)
    }
}

/// A model that is made on the device leaves a segment or two that are none of its parameters': if that makes
/// numbers even, it was so.
fn best_layout(view: &View<'_>, ids: &[AllocId]) -> Layout {
    let mut best = Layout::of(view, ids, 0);
    for other_segments in 1..=MAX_OTHER_SEGMENTS {
        let layout = Layout::of(view, ids, other_segments);
        let before = best.explained_bytes();
        if before + before / GAIN_PART < layout.explained_bytes() {
            best = layout;
        }
    }
    best
}

/// Claim blocks of a parameter's size that are none: `gradients` of them are gradients, the others state.
fn claim_later(later: &[PlacedBlock], gradients: usize, known: Blocks, claims: &mut Claims) {
    let is_paired = paired_neighbours(later);
    let lone = is_paired.iter().filter(|is_paired| !**is_paired).count();
    let all_are_gradients = later.len() <= gradients;
    for (block, is_paired) in later.iter().zip(is_paired) {
        // Where gradients and state are both there, only pairs tell them apart.
        let category = match is_paired {
            _ if gradients == 0 => Category::OptimizerState,
            _ if all_are_gradients => Category::Gradient,
            true => Category::OptimizerState,
            false if lone == gradients => Category::Gradient,
            false => continue,
        };
        let verdict = Verdict::new(category, RuleId::LiesLater);
        claims.claim_with_blocks(block.id, verdict, block.size, known);
    }
}

/// Of each block, whether it lies side by side with another of its size, in pairs: two tensors of state that were set up for
/// one parameter after the other do.
fn paired_neighbours(blocks: &[PlacedBlock]) -> Vec<bool> {
    let mut out = vec![false; blocks.len()];
    let mut at = 0;
    while let (Some(block), Some(next)) = (blocks.get(at), blocks.get(at + 1)) {
        let is_pair = block.touches(next);
        out[at] |= is_pair;
        out[at + 1] |= is_pair;
        at += if is_pair { 2 } else { 1 };
    }
    out
}
