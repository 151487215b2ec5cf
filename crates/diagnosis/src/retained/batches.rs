//! Tells batches from results, among memory that is made outside of models: a batch is made before the call that uses it,
//! and lives until then, while results come out of a call, and computing them leaves temporaries.

use crate::case::Case;
use foldhash::{HashMap, HashSet};
use oomscope_analysis::{Category, FrameKey};
use oomscope_model::{Allocation, Moment, StackId};

/// The stacks of some allocations that make batches.
pub(super) struct Batches {
    stacks: HashSet<StackId>,
}

impl Batches {
    pub(super) fn among(case: &Case<'_>, retained: &[&Allocation]) -> Self {
        let made = |a: &&&Allocation| a.stack != StackId::EMPTY && !is_below_a_model(case, a.stack);
        let outside: Vec<&Allocation> = retained.iter().filter(made).copied().collect();
        let mut stacks: HashSet<StackId> = outside.iter().map(|a| a.stack).collect();
        let older: HashSet<StackId> =
            outside.iter().filter(|a| a.alloc_event().is_none()).map(|a| a.stack).collect();
        let inputs: HashSet<StackId> =
            outside.iter().filter(|a| case.category(a.id) == Category::Input).map(|a| a.stack).collect();
        let first = made_before_first_call(case, &stacks);
        let computing = computing(case, &inputs);
        let on_threads = on_loading_threads(case, &stacks);
        stacks.retain(|stack| {
            (first.contains(stack) && !older.contains(stack))
                || (inputs.contains(stack) && !computing.contains(stack))
                || on_threads.contains(stack)
        });
        Self { stacks }
    }

    /// Whether an allocation is of a batch. Without a stack, only its category tells.
    pub(super) fn contains(&self, case: &Case<'_>, a: &Allocation) -> bool {
        match a.stack {
            StackId::EMPTY => case.category(a.id) == Category::Input,
            stack => self.stacks.contains(&stack),
        }
    }

    /// Whether batches wait for their use: the same code made others, most of which went, and the earlier ones first.
    pub(super) fn are_ahead(&self, case: &Case<'_>, retained: &[&Allocation]) -> bool {
        let waiting = || retained.iter().filter(|a| self.stacks.contains(&a.stack));
        let Some(first) = waiting().map(|a| a.id).min() else { return false };
        let timeline = case.recording.timeline();
        let is_used = |id| timeline.gone(id).is_some_and(|gone| gone <= case.moment);
        let same = || timeline.ids().filter(|&id| self.stacks.contains(&timeline.stack(id)));
        let before = same().filter(|&id| id < first && is_used(id)).count();
        let after = same().filter(|&id| first < id && is_used(id)).count();
        after < before
    }
}

/// Whether memory was made by a model's call.
pub(super) fn is_below_a_model(case: &Case<'_>, stack: StackId) -> bool {
    case.code.is_below(stack, |code| code.calls_module())
}

/// Of some stacks, those that allocate before the first call of a model: no result can.
fn made_before_first_call(case: &Case<'_>, stacks: &HashSet<StackId>) -> HashSet<StackId> {
    let timeline = case.recording.timeline();
    let Some(first) = case.phases().calls.first() else { return HashSet::default() };
    let made = timeline.ids().map(|id| (timeline.lifetimes.start(id), timeline.stack(id)));
    let before = made.take_while(|(at, _)| at.0 <= first.event.0).filter(|(at, _)| Moment::START < *at);
    before.map(|(_, stack)| stack).filter(|stack| stacks.contains(stack)).collect()
}

/// Of some stacks, those beside which the same code makes temporaries: blocks that are gone before a model is called.
fn computing(case: &Case<'_>, stacks: &HashSet<StackId>) -> HashSet<StackId> {
    let timeline = case.recording.timeline();
    let callers: HashMap<StackId, Vec<FrameKey>> =
        stacks.iter().map(|&stack| (stack, caller(case, stack))).collect();
    let wanted: HashSet<&Vec<FrameKey>> = callers.values().collect();
    let calls = &case.phases().calls;
    let mut known: HashMap<StackId, bool> = HashMap::default();
    let mut computing: HashSet<Vec<FrameKey>> = HashSet::default();
    if stacks.is_empty() {
        return HashSet::default();
    }
    for id in timeline.ids() {
        let start = timeline.lifetimes.start(id);
        let next = calls.get(calls.partition_point(|call| call.event.0 < start.0));
        let is_brief = timeline.gone(id).zip(next).is_some_and(|(gone, next)| gone.0 <= next.event.0);
        let stack = timeline.stack(id);
        if start == Moment::START || !is_brief || stack == StackId::EMPTY {
            continue;
        }
        if *known.entry(stack).or_insert_with(|| wanted.contains(&caller(case, stack))) {
            computing.insert(caller(case, stack));
        }
    }
    stacks.iter().filter(|stack| computing.contains(&callers[*stack])).copied().collect()
}

/// The lines that called the function which an allocation was made in, or its own line in a script.
fn caller(case: &Case<'_>, stack: StackId) -> Vec<FrameKey> {
    let path = case.code.own_path(stack);
    match path.len() {
        0 | 1 => path,
        _ => path[1..].to_vec(),
    }
}

/// Of some stacks, those of threads that call no model.
fn on_loading_threads(case: &Case<'_>, stacks: &HashSet<StackId>) -> HashSet<StackId> {
    let is_on_a_thread = |stack: &&StackId| case.code.is_below(**stack, |code| code.starts_thread());
    let mut of_threads: HashSet<StackId> = stacks.iter().filter(is_on_a_thread).copied().collect();
    if of_threads.is_empty() {
        return of_threads;
    }
    let all: HashSet<StackId> = case.recording.ids().map(|id| case.recording.stack(id)).collect();
    let calling = all.into_iter().filter(|&stack| is_below_a_model(case, stack));
    let calling: HashSet<&str> = calling.filter_map(|stack| case.code.outermost_function(stack)).collect();
    of_threads.retain(|&stack| {
        case.code.outermost_function(stack).is_some_and(|function| !calling.contains(function))
    });
    of_threads
}
