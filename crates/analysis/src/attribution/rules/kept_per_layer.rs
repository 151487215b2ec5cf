//! Blocks that calls of a model keep for the next ones, where nothing trains: keys and values, one of each for every layer.

use crate::attribution::facts::Activity;
use crate::attribution::thresholds::MIN_LAYERS;
use crate::attribution::view::View;
use foldhash::HashSet;
use oomscope_model::{AllocId, Bytes, StackId};
use std::collections::BTreeMap;

/// Autocast's copies of weights are this many times smaller: half precision of 32 bits, or 8 bits of them.
const CAST_TIMES: [i64; 2] = [2, 4];

/// The blocks of one stack that outlive the calls which make them.
#[derive(Debug, Default)]
struct KeptByStack {
    /// Of each block the end of its call, and the event that freed it.
    kept: Vec<(u32, Option<u32>)>,
    /// How many of one call, at most.
    most_of_call: usize,
    /// The call that is being counted, by its first event, and how many of it.
    current: (u32, usize),
}

impl KeptByStack {
    fn add(&mut self, call_start: u32, call_end: u32, freed: Option<u32>) {
        let count = if self.current.0 == call_start { self.current.1 + 1 } else { 1 };
        self.current = (call_start, count);
        self.most_of_call = self.most_of_call.max(count);
        self.kept.push((call_end, freed));
    }

    /// How many there are at a time, at most.
    fn most_at_a_time(&self) -> usize {
        let starts = self.kept.iter().map(|&(from, _)| (from, 1));
        let ends = self.kept.iter().filter_map(|&(_, freed)| Some((freed?, -1)));
        let mut changes: Vec<(u32, i64)> = starts.chain(ends).collect();
        changes.sort_unstable();
        let mut live = 0;
        let counts = changes.into_iter().map(|(_, change)| {
            live += change;
            live
        });
        usize::try_from(counts.max().unwrap_or(0)).unwrap_or(0)
    }

    /// Whether the stack keeps a block for each layer: all of one call, or blocks that are replaced over and over. Results
    /// that are only collected are not.
    fn is_per_layer(&self) -> bool {
        let replaced = self.kept.iter().filter(|(_, freed)| freed.is_some()).count();
        let most = self.most_at_a_time();
        MIN_LAYERS <= self.most_of_call || (MIN_LAYERS <= most && most <= replaced)
    }
}

/// The stacks that keep one block for each layer, if another keeps as many at a time: one is for keys, one for values.
pub(super) fn stacks(view: &View<'_>) -> HashSet<StackId> {
    if view.device.has_backward() {
        return HashSet::default();
    }
    let mut by_count: BTreeMap<usize, Vec<StackId>> = BTreeMap::new();
    for (stack, kept) in kept_by_stack(view).into_iter().filter(|(_, kept)| kept.is_per_layer()) {
        by_count.entry(kept.most_at_a_time()).or_default().push(stack);
    }
    by_count.into_values().filter(|stacks| 1 < stacks.len()).flatten().collect()
}

/// The blocks that outlive calls which keep no graph.
fn kept_by_stack(view: &View<'_>) -> BTreeMap<StackId, KeptByStack> {
    let cast_sizes = cast_sizes(view);
    let last_event = view.device.activities.runs.last().map_or(0, |run| run.end);
    let mut out: BTreeMap<StackId, KeptByStack> = BTreeMap::new();
    for (id, made) in view.new_ids() {
        if view.device.activities.at(made.0) != Activity::Call || cast_sizes.contains(&view.size(id)) {
            continue;
        }
        let call = view.device.call_at(made.0).filter(|call| !call.trains && !call.keeps_a_graph());
        let Some(call) = call else { continue };
        // A call that was cut off leaves everything that it was working on.
        let ooms = &view.timeline.ooms;
        let after = ooms.partition_point(|oom| oom.event.0 < call.start);
        let is_cut = ooms.get(after).is_some_and(|oom| oom.event.0 < call.end);
        if !is_cut && call.end < last_event && view.is_live_until(id, call.end) {
            let freed = view.free_event(id).map(|freed| freed.0);
            out.entry(view.timeline.events.stack(made)).or_default().add(call.start, call.end, freed);
        }
    }
    out
}

/// The sizes that autocast's copies of weights have: fractions of what was there before the first call. They, too,
/// outlive the call that makes them, until autocast ends.
fn cast_sizes(view: &View<'_>) -> HashSet<Bytes> {
    let first = view.device.calls.first().map_or(0, |call| call.start);
    let before = view.ids().take_while(|&id| view.timeline.lifetimes.start(id).0 <= first);
    let weights = before.filter(|&id: &AllocId| view.free_event(id).is_none_or(|freed| first < freed.0));
    weights.flat_map(|id| CAST_TIMES.map(|times| view.size(id) / times)).collect()
}
