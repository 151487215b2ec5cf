//! The largest that code makes in each repetition: what tells growth from one repetition to the next.

use super::Case;
use foldhash::HashMap;
use oomscope_model::{AllocId, StackId};
use std::collections::BTreeMap;

/// The largest allocation of each repetition until the moment, of the stacks that are wanted.
pub(crate) fn largest_by_repetition(
    case: &Case<'_>,
    is_wanted: impl Fn(StackId) -> bool,
) -> HashMap<StackId, BTreeMap<usize, AllocId>> {
    let timeline = case.recording.timeline();
    let mut made: HashMap<StackId, BTreeMap<usize, AllocId>> = HashMap::default();
    for id in timeline.ids().filter(|&id| is_wanted(timeline.stack(id))) {
        let start = timeline.lifetimes.start(id);
        let Some(index) = case.repetitions.index_at(start).filter(|_| start <= case.moment) else { continue };
        let largest = made.entry(timeline.stack(id)).or_default().entry(index).or_insert(id);
        if timeline.size(*largest) < timeline.size(id) {
            *largest = id;
        }
    }
    made
}
