//! What explains a failed request better than what stays from earlier iterations does.

use crate::analysis::Category;
use crate::diagnosis::{Context, Kept, Shortage, StackBytes};
use crate::model::{Allocation, Moment, StackId};

/// Fewer may be as large together by chance.
const MIN_PIECES: usize = 8;

/// Fewer iterations do not tell what one needs.
const MIN_ITERATIONS: usize = 2;

/// Whether something else does.
pub(super) fn comes_first(context: &Context<'_>, shortage: &Shortage, kept: &Kept) -> bool {
    let gathered = pieces(context, shortage);
    let is_kept = |row: StackBytes| kept.stacks.iter().any(|kept| kept.stack == row.stack);
    gathered.is_some_and(is_kept) || is_surpassed(context, shortage, kept)
}

/// The pieces that some code has made and that are together as large as the request: they are collected
/// to be put into one tensor, as by `torch.cat`.
pub(super) fn pieces(context: &Context<'_>, shortage: &Shortage) -> Option<StackBytes> {
    let requested = shortage.oom.requested;
    let is_sum = |bytes: i64| requested.abs_diff(bytes) <= requested.unsigned_abs() / 100;
    let is_piece = |a: &&Allocation| {
        let category = context.category(a.id);
        a.size <= requested / 4 && !matches!(category, Category::Parameter | Category::OptimizerState)
    };
    let are_pieces =
        |row: &StackBytes| context.live.iter().filter(|a| a.stack == row.stack).all(|a| is_piece(&a));
    let live = context.live_stacks().into_iter();
    let mut sums = live.filter(|row| MIN_PIECES <= row.count && is_sum(row.bytes));
    sums.find(|row| row.stack != StackId::EMPTY && are_pieces(row))
}

/// Whether this iteration needs more than any before it, by more than all that stays.
fn is_surpassed(context: &Context<'_>, shortage: &Shortage, kept: &Kept) -> bool {
    let iterations = &context.phases().iterations;
    let Some(at) = iterations.index_at(context.moment).filter(|&at| MIN_ITERATIONS <= at) else {
        return false;
    };
    let rise = |peak: i64, start: i64| peak.saturating_sub(start);
    let earlier = iterations.list.iter().take(at).map(|one| rise(one.peak_bytes, one.start_bytes)).max();
    let Some((this, earlier)) = iterations.list.get(at).zip(earlier) else { return false };
    let is_new = |&&id: &&crate::model::AllocId| Moment(this.start.0) < context.timeline.lifetimes.start(id);
    let new = kept.allocations.iter().filter(is_new);
    let new = new.fold(0i64, |sum, &id| sum.saturating_add(context.allocation(id).size));
    let now = rise(context.timeline.active.at(context.moment), this.start_bytes);
    let needs = now.saturating_add(shortage.oom.requested).saturating_sub(new);
    kept.bytes < needs.saturating_sub(earlier)
}
