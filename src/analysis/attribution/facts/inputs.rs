//! Which code outside of models makes what they are given.

use super::acts::{Act, Acts};
use super::calls::Call;
use crate::model::{AllocId, Moment, StackId, Timeline};
use foldhash::{HashMap, HashSet};

/// Calls from the same place that an input may live through: batches may be prepared ahead.
const MAX_CALLS: usize = 3;

/// How often the allocations of a stack were gone soon after the call that followed them, and how
/// often they stayed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Habit {
    gone: u32,
    stayed: u32,
    /// The call before which one was made last that is never gone, and before how many calls there were such.
    left_before: Option<usize>,
    left: u32,
}

/// What stacks outside of models do.
#[derive(Debug, Default)]
pub(in crate::analysis) struct Inputs {
    habits: HashMap<StackId, Habit>,
    /// Stacks that allocate before the first call by some code: what only comes later, as sampled
    /// tokens and losses do, is a result of the call before.
    first: HashSet<StackId>,
    /// The same for the first call from each line.
    first_by_line: HashSet<StackId>,
    /// The next call from the same place, for each.
    again: Vec<Option<usize>>,
}

impl Inputs {
    pub(super) fn of(timeline: &Timeline, acts: &Acts, calls: &[Call]) -> Self {
        let mut out = Self::default();
        let lifetimes = &timeline.lifetimes;
        let mut seen: HashSet<(bool, u32)> = HashSet::default();
        let mut current = None;
        let again = again(calls);
        for run in acts.runs.iter().filter(|run| matches!(run.act, Act::Main | Act::Data)) {
            let next = calls.partition_point(|call| call.start < run.start);
            let Some(call) = calls.get(next) else { break };
            if current != Some(next) {
                if let Some(before) = current.and_then(|at: usize| calls.get(at)) {
                    seen.extend([(true, before.caller), (false, before.calling_code)]);
                }
                current = Some(next);
            }
            let is_first = !seen.contains(&(false, call.calling_code));
            let is_first_by_line = !seen.contains(&(true, call.caller));
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
                if is_first_by_line {
                    out.first_by_line.insert(timeline.events.stack(start));
                }
                let habit = out.habits.entry(timeline.events.stack(start)).or_default();
                let comes_again = again.get(next).copied().flatten().is_some();
                if end.is_none() && comes_again && habit.left_before.replace(next) != Some(next) {
                    habit.left += 1;
                }
                let last = (0..MAX_CALLS).try_fold(next, |at, _| again.get(at).copied().flatten());
                let last = last.and_then(|at| calls.get(at)).map(|call| call.start);
                match (end, last) {
                    (Some(end), Some(last)) if last < end.0 => habit.stayed += 1,
                    (Some(_), _) => habit.gone += 1,
                    (None, Some(_)) => habit.stayed += 1,
                    (None, None) => {}
                }
            }
        }
        out.again = again;
        out
    }

    /// Whether what a stack allocates before a call is for that call; `None` if it cannot be told.
    pub(in crate::analysis) fn is_input(&self, stack: StackId) -> Option<bool> {
        let habit = self.habits.get(&stack)?;
        if habit.gone == habit.stayed { None } else { Some(habit.stayed < habit.gone) }
    }

    /// Whether a stack allocates before several calls, and nothing of that is ever given back: that is for none of them.
    pub(in crate::analysis) fn is_never_given_back(&self, stack: StackId) -> bool {
        let habit = self.habits.get(&stack).copied().unwrap_or_default();
        habit.gone == 0 && 1 < habit.left
    }

    /// Whether the same code calls again after a call.
    pub(in crate::analysis) fn comes_again(&self, call: usize) -> bool {
        self.again.get(call).copied().flatten().is_some()
    }

    /// Whether a stack allocates before the first call by some code, too.
    pub(in crate::analysis) fn comes_first(&self, stack: StackId) -> bool {
        self.first.contains(&stack)
    }

    /// Whether a stack allocates before the first call from some line.
    pub(in crate::analysis) fn precedes_a_line(&self, stack: StackId) -> bool {
        self.first_by_line.contains(&stack)
    }

    /// Of each call, whether new data were made for it since the call before.
    pub(super) fn fed(&self, timeline: &Timeline, acts: &Acts, calls: &[Call]) -> Vec<bool> {
        let mut out = vec![false; calls.len()];
        let lifetimes = &timeline.lifetimes;
        for run in acts.runs.iter().filter(|run| matches!(run.act, Act::Main | Act::Data)) {
            let next = calls.partition_point(|call| call.start < run.start);
            let Some(is_fed) = out.get_mut(next) else { break };
            let Some(first) = lifetimes.first_after(Moment(run.start)) else { break };
            *is_fed |= (first.0..lifetimes.len() as u32)
                .map(AllocId)
                .map_while(|id| lifetimes.start(id).event().filter(|start| start.0 < run.end))
                .map(|start| timeline.events.stack(start))
                .any(|stack| self.comes_first(stack) && self.is_input(stack) != Some(false));
        }
        out
    }
}

/// The next call from the same place, for each.
fn again(calls: &[Call]) -> Vec<Option<usize>> {
    let mut latest: HashMap<u32, usize> = HashMap::default();
    let mut out: Vec<Option<usize>> =
        calls.iter().enumerate().rev().map(|(at, call)| latest.insert(call.caller, at)).collect();
    out.reverse();
    out
}
