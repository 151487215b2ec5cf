//! Tells the layers of one pass through a model from the repetitions of a program.

use super::by_source::FromSource;
use super::source::Source;
use crate::analysis::FrameKey;
use crate::diagnosis::case::Case;
use crate::diagnosis::share::{MOST, WORTH};
use crate::diagnosis::sum::SaturatingSum as _;
use crate::model::Moment;
use foldhash::HashMap;
use std::collections::BTreeSet;

/// Repetitions are the layers of one pass if fewer than this many sources leave memory in each, for every line that comes
/// only once in all of them. A model has more layers of the same kind than of different kinds.
const SOURCES_PER_SINGLE_LINE: usize = 4;

/// Whether repetitions look like the layers of one pass: then activations of other lines come once in all of them, the
/// first before the layers. Repetitions of a program make such activations each time.
///
/// `repeated` is the memory of sources that left some in several repetitions, `once` that of all others.
pub(super) fn are_layers(
    case: &Case<'_>,
    repeated: &HashMap<Source, FromSource<'_>>,
    once: &HashMap<Source, FromSource<'_>>,
) -> bool {
    if case.goes_by_size() {
        // All layers of one size are one source.
        return false;
    }
    let first = repeated.values().map(FromSource::first_repetition).min();
    // With frames of compiled code, the first call of a line may have another stack than the later ones.
    let line = |source: Source| source.stack().and_then(|stack| case.code.own_line(stack));
    let lines: BTreeSet<Option<FrameKey>> = repeated.keys().map(|&source| line(source)).collect();
    let repetitions = repeated.values().map(|from| from.by_repetition.len()).max().unwrap_or(0);
    let bytes = repeated.values().map(|from| from.bytes()).saturating_sum();
    let each = bytes / (repetitions.max(1) as i64);
    let is_other = |&(source, from): &(&Source, &FromSource<'_>)| {
        from.has_activations && WORTH.is_reached(from.bytes(), each) && !lines.contains(&line(*source))
    };
    let once: Vec<_> = once.iter().filter(is_other).collect();
    if !once.iter().any(|(_, from)| first.is_some_and(|first| from.first_repetition() <= first)) {
        return false;
    }
    let allocations = allocations_by_stack(case);
    let times = |source: Source| source.stack().map_or(0, |stack| allocations[stack.index()] as usize);
    let single = once.iter().filter(|&&(&source, _)| !MOST.is_reached(times(source), repetitions)).count();
    repeated.len() < single.saturating_mul(SOURCES_PER_SINGLE_LINE)
}

/// Number of allocations of each stack from the start of the recording until the moment.
fn allocations_by_stack(case: &Case<'_>) -> Vec<u32> {
    let timeline = case.timeline;
    let mut counts = vec![0u32; case.snapshot.stacks.len()];
    for id in timeline.ids() {
        let start = timeline.lifetimes.start(id);
        if Moment::START < start && start <= case.moment {
            counts[timeline.stack(id).index()] += 1;
        }
    }
    counts
}
