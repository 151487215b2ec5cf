//! What calls of a model keep for the next ones: keys and values, one of each for every layer.

use super::View;
use crate::analysis::attribution::facts::Act;
use crate::model::{AllocId, StackId};
use foldhash::{HashMap, HashSet};

/// Fewer layers make pairs by chance.
const MIN_LAYERS: usize = 4;

/// Lines that make keys, and lines that make values.
const LINES: usize = 2;

/// The stacks of at least two lines whose blocks are of one size, outlive a call that keeps no graph, and are as many in it:
/// one for each layer.
pub(super) fn stacks(view: &View<'_>) -> HashSet<StackId> {
    let mut kept: HashMap<(u32, i64), HashMap<StackId, usize>> = HashMap::default();
    let lifetimes = &view.timeline.lifetimes;
    for id in (lifetimes.initial_count() as u32..lifetimes.len() as u32).map(AllocId) {
        let Some(start) = lifetimes.start(id).event() else { continue };
        if view.flow.acts.at(start.0) != Act::Call {
            continue;
        }
        let Some(call) = view.flow.call_at(start.0).filter(|call| !call.trains && !call.keeps()) else {
            continue;
        };
        // Of a call that was cut off, all is there that it was working on.
        let is_cut = view.timeline.ooms.iter().any(|oom| (call.start..call.end).contains(&oom.event.0));
        let is_last = view.flow.acts.runs.last().is_some_and(|run| run.end <= call.end);
        if !is_cut && !is_last && view.gone(id).is_none_or(|gone| call.end <= gone.0) {
            let of_call = kept.entry((call.start, view.size(id))).or_default();
            *of_call.entry(view.timeline.events.stack(start)).or_default() += 1;
        }
    }
    let casts = casts(view);
    let mut out = HashSet::default();
    for ((_, size), of_call) in kept {
        if casts.contains(&size) {
            continue;
        }
        for (&stack, &count) in &of_call {
            let alike = of_call.values().filter(|&&other| other == count).count();
            if MIN_LAYERS <= count && LINES <= alike {
                out.insert(stack);
            }
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
