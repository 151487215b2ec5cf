//! Which code outside of models makes what they are given.

use super::acts::{Act, Acts};
use super::calls::Call;
use crate::model::{AllocId, Moment, StackId, Timeline};
use foldhash::{HashMap, HashSet};

/// Calls that an input may live through: several models, or several batches that are prepared ahead.
const MAX_CALLS: usize = 8;

/// How often the allocations of a stack were gone soon after the call that followed them, and how
/// often they stayed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Habit {
    gone: u32,
    stayed: u32,
}

/// What stacks outside of models do.
#[derive(Debug, Default)]
pub(in crate::analysis) struct Inputs {
    habits: HashMap<StackId, Habit>,
    /// Stacks that allocate before the first call by some code: what only comes later, as sampled
    /// tokens and losses do, is a result of the call before.
    first: HashSet<StackId>,
}

impl Inputs {
    pub(super) fn of(timeline: &Timeline, acts: &Acts, calls: &[Call]) -> Self {
        let mut out = Self::default();
        let lifetimes = &timeline.lifetimes;
        let mut seen: HashSet<u32> = HashSet::default();
        let mut current = None;
        for run in acts.runs.iter().filter(|run| matches!(run.act, Act::Main | Act::Data)) {
            let next = calls.partition_point(|call| call.start < run.start);
            let Some(call) = calls.get(next) else { break };
            if current != Some(next) {
                current.and_then(|at| calls.get(at)).map(|call: &Call| seen.insert(call.calling_code));
                current = Some(next);
            }
            let is_first = !seen.contains(&call.calling_code);
            let first = lifetimes.first_after(Moment(run.start));
            let ids = first.map_or(0..0, |first| first.0..lifetimes.len() as u32).map(AllocId);
            for id in ids {
                let Some(start) = lifetimes.start(id).event().filter(|start| start.0 < run.end) else {
                    break;
                };
                let end = lifetimes.requested(id).or(lifetimes.end(id)).and_then(Moment::event);
                if !matches!(acts.at(start.0), Act::Main | Act::Data)
                    || end.is_some_and(|end| end.0 <= call.start)
                {
                    continue;
                }
                if is_first {
                    out.first.insert(timeline.events.stack(start));
                }
                let habit = out.habits.entry(timeline.events.stack(start)).or_default();
                let last = calls.get(next + MAX_CALLS).map(|call| call.start);
                match (end, last) {
                    (Some(end), Some(last)) if last < end.0 => habit.stayed += 1,
                    (Some(_), _) => habit.gone += 1,
                    (None, Some(_)) => habit.stayed += 1,
                    (None, None) => {}
                }
            }
        }
        out
    }

    /// Whether what a stack allocates before a call is for that call; `None` if it cannot be told.
    pub(in crate::analysis) fn is_input(&self, stack: StackId) -> Option<bool> {
        let habit = self.habits.get(&stack)?;
        if habit.gone == habit.stayed { None } else { Some(habit.stayed < habit.gone) }
    }

    /// Whether a stack allocates before the first call by some code, too.
    pub(in crate::analysis) fn comes_first(&self, stack: StackId) -> bool {
        self.first.contains(&stack)
    }
}
