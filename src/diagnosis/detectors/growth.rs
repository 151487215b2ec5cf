//! Memory that stays from iteration to iteration, where that is not why memory ran out.

use crate::diagnosis::{Context, Finding, Severity, verdict};
use crate::units;

/// Less than this share of what is in use is not worth a word.
const MIN_SHARE: f64 = 0.02;

/// Fewer iterations show no trend.
const MIN_ROUNDS: usize = 3;

pub(super) fn find(context: &Context<'_>) -> Vec<Finding> {
    let Some(kept) = &context.kept else { return Vec::new() };
    let is_small = Context::share(kept.bytes, context.live_bytes()) < MIN_SHARE
        || (kept.rounds < MIN_ROUNDS && kept.older_bytes == 0);
    if is_small || verdict::is_leak(context) {
        return Vec::new();
    }
    let title = match kept.rounds {
        0 => format!("{} stay from earlier iterations or batches", units::bytes(kept.bytes)),
        _ => format!("Memory grows by about {} per iteration or batch", units::bytes(kept.per_round_bytes)),
    };
    let mut finding = Finding::new("memory-growth", Severity::Info, title);
    verdict::describe_leak(&mut finding, context, kept);
    let available = context.shortage.as_ref().and_then(crate::diagnosis::Shortage::available_bytes);
    if let Some(room) = available
        .or(context.device_memory)
        .map(|most| most.saturating_sub(context.state.total.reserved_bytes))
        && let Some(rounds) = room.checked_div(kept.per_round_bytes)
    {
        finding.explain(match rounds {
            0 => format!("The {} of room that are left are less than one more adds.", units::bytes(room)),
            rounds => format!(
                "At this rate {} of room are used up after {} more.",
                units::bytes(room),
                units::count(rounds)
            ),
        });
    }
    finding.limit("A program may keep results on purpose, and a cache of limited size stops growing.");
    vec![finding]
}
