//! Better explanations of a failed request than the memory that is retained from earlier iterations.

use crate::case::{Case, Shortage};
use crate::finding::StackBytes;
use crate::retained::Retained;
use oomscope_analysis::Category;
use oomscope_model::{AllocId, Allocation, Bytes, Moment, StackId};
use oomscope_program::numbers::MANY;
use std::collections::BTreeSet;

/// Whether something explains the failed request better.
pub(super) fn comes_first(case: &Case<'_>, shortage: &Shortage, retained: &Retained) -> bool {
    let is_retained = |row: StackBytes| retained.stacks.iter().any(|other| other.stack == row.stack);
    pieces(case, shortage).is_some_and(|pieces| is_retained(pieces.row))
        || is_surpassed(case, shortage, retained)
}

/// The pieces of one stack that the failed request was to put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pieces {
    /// Their stack.
    pub(crate) row: StackBytes,
    /// Whether the request's stack shows a function that puts tensors together.
    pub(crate) is_seen: bool,
}

/// The pieces that were collected to be put into one tensor, as by `torch.cat`: the blocks of one stack are together exactly
/// as large as the request, and the request's stack shows such a function or, since Python stacks do not show functions of
/// torch that are written in C++, the pieces were made by as many repetitions.
pub(crate) fn pieces(case: &Case<'_>, shortage: &Shortage) -> Option<Pieces> {
    let requested = shortage.oom.requested;
    let event = case.recording.events.get(shortage.oom.event);
    let is_seen = case.code.puts_together(event.stack);
    let is_piece =
        |a: &&Allocation| !matches!(case.category(a.id), Category::Parameter | Category::OptimizerState);
    let are_pieces = |row: &StackBytes| {
        let of_stack = case.live.iter().filter(|a| a.stack == row.stack);
        of_stack.clone().all(|a| is_piece(&a)) && (is_seen || are_of_repetitions(case, of_stack))
    };
    let live = case.live_stacks().into_iter();
    let mut sums = live.filter(|row| MANY <= row.count && row.bytes == requested);
    let row = sums.find(|row| row.stack != StackId::EMPTY && are_pieces(row))?;
    Some(Pieces { row, is_seen })
}

/// Whether each of some allocations is of another repetition.
fn are_of_repetitions<'a>(case: &Case<'_>, mut pieces: impl Iterator<Item = &'a Allocation>) -> bool {
    let mut seen = BTreeSet::new();
    pieces.all(|a| case.repetition_of(a).is_some_and(|index| seen.insert(index)))
}

/// Whether this iteration needs more than any before it, by more than all that is retained.
fn is_surpassed(case: &Case<'_>, shortage: &Shortage, retained: &Retained) -> bool {
    let iterations = &case.phases().iterations;
    // One earlier iteration, which warms up, does not show how much memory one needs.
    let Some(at) = iterations.index_at(case.moment).filter(|&at| 1 < at) else { return false };
    let rise = |peak: Bytes, start: Bytes| peak - start;
    let earlier = iterations.list.iter().take(at).map(|one| rise(one.peak_bytes, one.start_bytes)).max();
    let Some((this, earlier)) = iterations.list.get(at).zip(earlier) else { return false };
    let is_new = |&&id: &&AllocId| Moment(this.start.0) < case.recording.lifetimes.start(id);
    let new = retained.allocations.iter().filter(is_new);
    let new = new.map(|&id| case.recording.size(id)).sum::<Bytes>();
    let now = rise(case.recording.active.at(case.moment), this.start_bytes);
    let needs = (now + shortage.oom.requested) - new;
    retained.bytes < needs - earlier
}
