//! What explains a failed request better than what stays from earlier iterations does.

use crate::diagnosis::{Context, Kept, Shortage};
use crate::model::Moment;

/// Fewer pieces are not put together.
const MIN_PIECES: usize = 3;

/// Fewer iterations do not tell what one needs.
const MIN_ITERATIONS: usize = 2;

/// Whether something else does.
pub(super) fn comes_first(context: &Context<'_>, shortage: &Shortage, kept: &Kept) -> bool {
    gathered(context, shortage, kept) || is_surpassed(context, shortage, kept)
}

/// Whether the request is for as much as all pieces together that some code has made: they are
/// collected to be put into one tensor, as by `torch.cat`.
fn gathered(context: &Context<'_>, shortage: &Shortage, kept: &Kept) -> bool {
    let requested = shortage.oom.requested;
    let is_sum = |bytes: i64| requested.abs_diff(bytes) <= requested.unsigned_abs() / 100;
    let live = context.live_stacks();
    let mut rows = live.iter().filter(|row| MIN_PIECES <= row.count && is_sum(row.bytes));
    rows.any(|row| kept.stacks.iter().any(|kept| kept.stack == row.stack))
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
