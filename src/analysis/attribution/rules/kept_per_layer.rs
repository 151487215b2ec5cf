//! What calls of a model keep for the next ones, where nothing trains: keys and values, one of each for every layer.

use super::View;
use crate::analysis::attribution::facts::Act;
use crate::model::{AllocId, StackId};
use foldhash::HashSet;
use std::collections::BTreeMap;

/// Fewer layers make pairs by chance.
const MIN_LAYERS: usize = 4;

/// What a line makes that outlives the calls which make it.
#[derive(Debug, Default)]
struct Line {
    /// Of each block the end of its call, and when it was given back.
    kept: Vec<(u32, Option<u32>)>,
    /// How many of one call, at most.
    most_of_call: usize,
    /// The call that is being counted, and how many of it.
    of_call: (u32, usize),
}

impl Line {
    fn add(&mut self, call: u32, end: u32, gone: Option<u32>) {
        self.of_call = if self.of_call.0 == call { (call, self.of_call.1 + 1) } else { (call, 1) };
        self.most_of_call = self.most_of_call.max(self.of_call.1);
        self.kept.push((end, gone));
    }

    /// How many there are at a time, at most.
    fn most(&self) -> usize {
        let starts = self.kept.iter().map(|&(from, _)| (from, 1));
        let ends = self.kept.iter().filter_map(|&(_, gone)| Some((gone?, -1)));
        let mut changes: Vec<(u32, i64)> = starts.chain(ends).collect();
        changes.sort_unstable();
        let mut now = 0;
        let all = changes.into_iter().map(|(_, change)| {
            now += change;
            now
        });
        usize::try_from(all.max().unwrap_or(0)).unwrap_or(0)
    }

    /// Whether it keeps a block for each layer: all of one call, or such as are replaced over and over. Results that are
    /// only collected are not.
    fn is_per_layer(&self) -> bool {
        let replaced = self.kept.iter().filter(|(_, gone)| gone.is_some()).count();
        MIN_LAYERS <= self.most_of_call || (MIN_LAYERS <= self.most() && self.most() <= replaced)
    }
}

/// The stacks of lines that keep one block for each layer, if another keeps as many at a time: one is for keys, one for values.
pub(super) fn stacks(view: &View<'_>) -> HashSet<StackId> {
    if view.flow.backward_spans.first().is_some() {
        return HashSet::default();
    }
    let lines = lines(view);
    let mut counts: BTreeMap<usize, Vec<StackId>> = BTreeMap::new();
    for (stack, line) in lines.into_iter().filter(|(_, line)| line.is_per_layer()) {
        counts.entry(line.most()).or_default().push(stack);
    }
    counts.into_values().filter(|stacks| 1 < stacks.len()).flatten().collect()
}

/// What outlives calls that keep no graph.
fn lines(view: &View<'_>) -> BTreeMap<StackId, Line> {
    let casts = casts(view);
    let lifetimes = &view.timeline.lifetimes;
    let last_run = view.flow.acts.runs.last().map_or(0, |run| run.end);
    let mut out: BTreeMap<StackId, Line> = BTreeMap::new();
    for id in (lifetimes.initial_count() as u32..lifetimes.len() as u32).map(AllocId) {
        let Some(start) = lifetimes.start(id).event() else { continue };
        if view.flow.acts.at(start.0) != Act::Call || casts.contains(&view.size(id)) {
            continue;
        }
        let Some(call) = view.flow.call_at(start.0).filter(|call| !call.trains && !call.keeps()) else {
            continue;
        };
        let gone = view.gone(id).map(|gone| gone.0);
        // Of a call that was cut off, all is there that it was working on.
        let ooms = &view.timeline.ooms;
        let after = ooms.partition_point(|oom| oom.event.0 < call.start);
        let is_cut = ooms.get(after).is_some_and(|oom| oom.event.0 < call.end);
        if !is_cut && call.end < last_run && gone.is_none_or(|gone| call.end <= gone) {
            out.entry(view.timeline.events.stack(start)).or_default().add(call.start, call.end, gone);
        }
    }
    out
}

/// The sizes that autocast's copies of weights have: half or a quarter of what was there before the first call. They, too,
/// outlive the call that makes them, until autocast ends.
fn casts(view: &View<'_>) -> HashSet<i64> {
    let first = view.flow.calls.first().map_or(0, |call| call.start);
    let before = view.ids().take_while(|&id| view.timeline.lifetimes.start(id).0 <= first);
    let kept = before.filter(|&id| view.gone(id).is_none_or(|gone| first < gone.0));
    kept.flat_map(|id| [view.size(id) / 2, view.size(id) / 4]).collect()
}
