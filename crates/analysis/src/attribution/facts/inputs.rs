//! The code outside of models that makes their inputs.

use super::activities::{Activities, Activity, Run};
use super::calls::Call;
use super::frees::free_event;
use foldhash::{HashMap, HashSet};
use oomscope_model::{EventIx, StackId, Timeline};

/// An input may live through this many calls from the same place: batches may be prepared ahead.
const MAX_CALLS: usize = 3;

/// The fate of the allocations that a stack makes before calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Habit {
    /// How many were freed soon after the call that followed them.
    freed: u32,
    /// How many outlived [`MAX_CALLS`] calls.
    stayed: u32,
    /// The last call before which one was made that is never freed.
    leaked_before: Option<usize>,
    /// Before how many calls one was made that is never freed.
    leaked: u32,
    /// Whether some are made before the first call by some code. What is only made later, as sampled tokens and losses are, are
    /// results of the call before.
    precedes_first_by_code: bool,
    /// Whether some are made before the first call from some line.
    precedes_first_by_line: bool,
}

/// The stacks outside of models that make inputs.
#[derive(Debug, Default)]
pub(crate) struct InputCode {
    habits: HashMap<StackId, Habit>,
    /// Of each call, the next one from the same line.
    next_from_line: Vec<Option<usize>>,
}

impl InputCode {
    pub(super) fn of(timeline: &Timeline, activities: &Activities, calls: &[Call]) -> Self {
        let mut out = Self { next_from_line: next_from_line(calls), ..Self::default() };
        let (mut seen_code, mut seen_lines) = (HashSet::default(), HashSet::default());
        let mut current = None;
        for run in runs_outside(activities) {
            let next = calls.partition_point(|call| call.start < run.start);
            let Some(call) = calls.get(next) else { break };
            if current != Some(next) {
                if let Some(before) = current.and_then(|at: usize| calls.get(at)) {
                    seen_code.insert(before.calling_code);
                    seen_lines.insert(before.caller);
                }
                current = Some(next);
            }
            let is_first_by_code = !seen_code.contains(&call.calling_code);
            let is_first_by_line = !seen_lines.contains(&call.caller);
            for (id, made) in run.allocations(timeline) {
                let freed = free_event(&timeline.lifetimes, id);
                let is_outside = is_outside(activities.at(made.0));
                if !is_outside || freed.is_some_and(|freed| freed.0 <= call.start) {
                    continue;
                }
                let stack = timeline.events.stack(made);
                let habit = out.note_fate(calls, next, stack, freed);
                habit.precedes_first_by_code |= is_first_by_code;
                habit.precedes_first_by_line |= is_first_by_line;
            }
        }
        out
    }

    /// Note what becomes of an allocation that a stack makes before a call.
    fn note_fate(
        &mut self,
        calls: &[Call],
        call: usize,
        stack: StackId,
        freed: Option<EventIx>,
    ) -> &mut Habit {
        let is_called_again = self.is_called_again(call);
        let last_use = (0..MAX_CALLS).try_fold(call, |at, _| self.next_from_line.get(at).copied().flatten());
        let last_use = last_use.and_then(|at| calls.get(at)).map(|call| call.start);
        let habit = self.habits.entry(stack).or_default();
        if freed.is_none() && is_called_again && habit.leaked_before.replace(call) != Some(call) {
            habit.leaked += 1;
        }
        match (freed, last_use) {
            (Some(freed), Some(last_use)) if last_use < freed.0 => habit.stayed += 1,
            (Some(_), _) => habit.freed += 1,
            (None, Some(_)) => habit.stayed += 1,
            // The recording ends too early to see whether it stays.
            (None, None) => {}
        }
        habit
    }

    fn habit(&self, stack: StackId) -> Habit {
        self.habits.get(&stack).copied().unwrap_or_default()
    }

    /// Whether a stack's allocations before a call are for that call; `None` if it cannot be told.
    pub(crate) fn makes_inputs(&self, stack: StackId) -> Option<bool> {
        let Habit { freed, stayed, .. } = self.habit(stack);
        (freed != stayed).then_some(stayed < freed)
    }

    /// Whether a stack allocates before several calls, and nothing of that is ever freed: that is for none of them.
    pub(crate) fn never_frees(&self, stack: StackId) -> bool {
        let habit = self.habit(stack);
        habit.freed == 0 && 1 < habit.leaked
    }

    /// Whether the same line calls again after a call.
    pub(crate) fn is_called_again(&self, call: usize) -> bool {
        self.next_from_line.get(call).copied().flatten().is_some()
    }

    /// Whether a stack allocates before the first call by some code.
    pub(crate) fn precedes_first_by_code(&self, stack: StackId) -> bool {
        self.habit(stack).precedes_first_by_code
    }

    /// Whether a stack allocates before the first call from some line.
    pub(crate) fn precedes_first_by_line(&self, stack: StackId) -> bool {
        self.habit(stack).precedes_first_by_line
    }

    /// Of each call, whether new data were made for it since the call before.
    pub(super) fn calls_with_new_data(
        &self,
        timeline: &Timeline,
        activities: &Activities,
        calls: &[Call],
    ) -> Vec<bool> {
        let mut out = vec![false; calls.len()];
        for run in runs_outside(activities) {
            let next = calls.partition_point(|call| call.start < run.start);
            let Some(has_new_data) = out.get_mut(next) else { break };
            let mut stacks = run.allocations(timeline).map(|(_, made)| timeline.events.stack(made));
            *has_new_data |= stacks
                .any(|stack| self.precedes_first_by_code(stack) && self.makes_inputs(stack) != Some(false));
        }
        out
    }
}

/// Whether an activity is outside of models and may make their inputs.
fn is_outside(activity: Activity) -> bool {
    matches!(activity, Activity::Main | Activity::Data)
}

fn runs_outside(activities: &Activities) -> impl Iterator<Item = &Run> {
    activities.runs.iter().filter(|run| is_outside(run.activity))
}

/// Of each call, the next one from the same line.
fn next_from_line(calls: &[Call]) -> Vec<Option<usize>> {
    let mut latest: HashMap<u32, usize> = HashMap::default();
    let mut out: Vec<Option<usize>> =
        calls.iter().enumerate().rev().map(|(at, call)| latest.insert(call.caller, at)).collect();
    out.reverse();
    out
}
