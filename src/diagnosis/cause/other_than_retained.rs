//! Better explanations of a failed request than the memory that is retained from earlier iterations.

use crate::analysis::Category;
use crate::diagnosis::case::{Case, Shortage};
use crate::diagnosis::finding::StackBytes;
use crate::diagnosis::retained::Retained;
use crate::model::{AllocId, Allocation, Moment, StackId};

/// Fewer blocks may be as large as the request together by chance.
const MIN_PIECES: usize = 8;

/// Pieces are as large as the request if their sum differs by at most one in this many of its bytes, as rounding makes it.
const SUM_PART: u64 = 100;

/// A piece is at most one in this many of the request's bytes.
const PIECE_PART: i64 = 4;

/// Fewer earlier iterations do not show how much memory one needs.
const MIN_ITERATIONS: usize = 2;

/// Whether something explains the failed request better.
pub(super) fn comes_first(case: &Case<'_>, shortage: &Shortage, retained: &Retained) -> bool {
    let is_retained = |row: StackBytes| retained.stacks.iter().any(|other| other.stack == row.stack);
    pieces(case, shortage).is_some_and(is_retained) || is_surpassed(case, shortage, retained)
}

/// The pieces of one stack that are together as large as the request: they were collected to be put into one tensor, as by
/// `torch.cat`.
pub(in crate::diagnosis) fn pieces(case: &Case<'_>, shortage: &Shortage) -> Option<StackBytes> {
    let requested = shortage.oom.requested;
    let is_sum = |bytes: i64| requested.abs_diff(bytes) <= requested.unsigned_abs() / SUM_PART;
    let is_piece = |a: &&Allocation| {
        let category = case.category(a.id);
        a.size <= requested / PIECE_PART
            && !matches!(category, Category::Parameter | Category::OptimizerState)
    };
    let are_pieces =
        |row: &StackBytes| case.live.iter().filter(|a| a.stack == row.stack).all(|a| is_piece(&a));
    let live = case.live_stacks().into_iter();
    let mut sums = live.filter(|row| MIN_PIECES <= row.count && is_sum(row.bytes));
    sums.find(|row| row.stack != StackId::EMPTY && are_pieces(row))
}

/// Whether this iteration needs more than any before it, by more than all that is retained.
fn is_surpassed(case: &Case<'_>, shortage: &Shortage, retained: &Retained) -> bool {
    let iterations = &case.phases().iterations;
    let Some(at) = iterations.index_at(case.moment).filter(|&at| MIN_ITERATIONS <= at) else {
        return false;
    };
    let rise = |peak: i64, start: i64| peak.saturating_sub(start);
    let earlier = iterations.list.iter().take(at).map(|one| rise(one.peak_bytes, one.start_bytes)).max();
    let Some((this, earlier)) = iterations.list.get(at).zip(earlier) else { return false };
    let is_new = |&&id: &&AllocId| Moment(this.start.0) < case.timeline.lifetimes.start(id);
    let new = retained.allocations.iter().filter(is_new);
    let new = new.fold(0i64, |sum, &id| sum.saturating_add(case.timeline.size(id)));
    let now = rise(case.timeline.active.at(case.moment), this.start_bytes);
    let needs = now.saturating_add(shortage.oom.requested).saturating_sub(new);
    retained.bytes < needs.saturating_sub(earlier)
}
