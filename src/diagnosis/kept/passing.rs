//! Results that a program keeps for a while: the last few of them, not all.

use crate::diagnosis::Context;
use crate::model::{Allocation, Moment, StackId};
use foldhash::HashMap;
use std::collections::BTreeSet;

/// The part of what is kept that may be older than the rest: the first result, or the best.
const OLDEST_PART: usize = 10;

/// What is live of a stack.
#[derive(Default)]
struct Live {
    bytes: i64,
    starts: Vec<Moment>,
}

impl Live {
    /// Where what is kept begins, but for a few that are older.
    fn begin(&mut self) -> Moment {
        self.starts.sort_unstable();
        self.starts.get(self.starts.len() / OLDEST_PART).copied().unwrap_or(Moment::START)
    }
}

/// Stacks of which as much has gone after several rounds as is live, all of it older than what is live.
pub(super) fn passing<'a>(
    context: &Context<'_>,
    live: impl Iterator<Item = &'a Allocation>,
) -> BTreeSet<StackId> {
    let timeline = context.timeline;
    let mut stacks: HashMap<StackId, Live> = HashMap::default();
    for a in live {
        let entry = stacks.entry(a.stack).or_default();
        entry.bytes = entry.bytes.saturating_add(a.size);
        entry.starts.push(timeline.lifetimes.start(a.id));
    }
    if stacks.is_empty() {
        return BTreeSet::new();
    }
    // What is live of each stack, where that begins, and what has gone of it before.
    let mut gone: HashMap<StackId, (i64, Moment, i64)> =
        stacks.iter_mut().map(|(&stack, live)| (stack, (live.bytes, live.begin(), 0))).collect();
    for id in timeline.lifetimes.ids() {
        let (start, end) = (timeline.lifetimes.start(id), timeline.lifetimes.end(id));
        let Some(end) = end.filter(|&end| end <= context.moment) else { continue };
        let Some(entry) = gone.get_mut(&timeline.lifetimes.stack(id, &timeline.events)) else { continue };
        // What is older than the first round is of a round of its own.
        let round = |moment| context.rounds.round_at(moment).map_or(0, |round| round + 1);
        if start < entry.1 && round(start) + 2 <= round(end) {
            entry.2 = entry.2.saturating_add(timeline.lifetimes.size(id, &timeline.events));
        }
    }
    gone.into_iter().filter(|(_, (live, _, gone))| live <= gone).map(|(stack, _)| stack).collect()
}
