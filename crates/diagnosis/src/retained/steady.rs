//! Growth that goes on: what sources leave behind each time that they allocate, and nothing of which goes.
//!
//! Parameters, state and caches that are set up once, queues at their limit and results that are collected and used do not
//! grow so: some repetition adds nothing, or something goes while the program goes on.

use super::by_source::FromSource;
use super::source::Source;
use crate::case::Case;
use foldhash::HashMap;
use oomscope_model::Bytes;
use oomscope_program::numbers::SEVERAL;
use oomscope_program::share::MOST;
use std::collections::BTreeSet;

/// The repetitions of the whole recording in which a source allocated.
#[derive(Default)]
struct Growth {
    active: BTreeSet<usize>,
    /// Those of which something outlived the next one.
    left: BTreeSet<usize>,
    /// Whether something of an earlier one went.
    shrinks: bool,
}

impl Growth {
    fn is_steady(&self, last: usize) -> bool {
        !self.shrinks && self.active.iter().filter(|&&at| at < last).all(|at| self.left.contains(at))
    }
}

/// The number of repetitions, of the whole recording, that left memory behind, if most of the memory is of sources
/// that leave some in every repetition in which they allocate; `None` if it is not, or if they are too few to show it.
pub(super) fn steady(case: &Case<'_>, by_source: &HashMap<Source, FromSource<'_>>) -> Option<usize> {
    let last = case.repetitions.count().checked_sub(1)?;
    let timeline = case.recording.timeline();
    let mut growths: HashMap<Source, Growth> = HashMap::default();
    for id in timeline.ids() {
        let source = Source::of_id(case, id).filter(|source| by_source.contains_key(source));
        let Some((source, made)) = source.zip(case.repetitions.index_at(timeline.lifetimes.start(id))) else {
            continue;
        };
        let growth = growths.entry(source).or_default();
        growth.active.insert(made);
        let gone = timeline.gone(id).and_then(|gone| case.repetitions.index_at(gone));
        if gone.is_none_or(|gone| made + 1 < gone) {
            growth.left.insert(made);
            // At the end, a program lets go of everything.
            growth.shrinks |= gone.is_some_and(|gone| gone < last);
        }
    }
    growths.retain(|_, growth| growth.is_steady(last));
    let steady = by_source.iter().filter(|(source, _)| growths.contains_key(source));
    let bytes = steady.map(|(_, from)| from.bytes()).sum::<Bytes>();
    let is_most = MOST.is_reached(bytes, by_source.values().map(FromSource::bytes).sum::<Bytes>());
    let repetitions: BTreeSet<usize> = growths.into_values().flat_map(|growth| growth.left).collect();
    (is_most && SEVERAL <= repetitions.len()).then_some(repetitions.len())
}
