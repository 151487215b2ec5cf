//! Calls of models, and whether they train.

use super::activities::{Activities, Activity, Run};
use super::facts_by_stack::FactsByStack;
use super::frees::free_event;
use super::stack_traits::{StackTrait, StackTraits};
use foldhash::{HashMap, HashSet};
use oomscope_model::Timeline;

/// A call with fewer blocks than this in its first half is judged as a whole: of so few, one or two stay in any case.
const MIN_BLOCKS: u32 = 8;

/// A call keeps a graph if more than one in this many of its blocks outlive it: without a graph, only results do.
const GRAPH_PART: u32 = 5;

/// A call trains if a backward frees more than one in this many of its blocks: a few may be freed during a backward by
/// chance.
const USED_PART: u32 = 20;

/// Blocks of a call, and how many of them outlive it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct BlockCount {
    all: u32,
    kept: u32,
}

impl BlockCount {
    fn add(&mut self, is_kept: bool) {
        self.all += 1;
        self.kept += u32::from(is_kept);
    }

    fn keeps_a_graph(self) -> bool {
        self.all / GRAPH_PART < self.kept
    }
}

/// One call of a model from outside of any model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Call {
    /// Its first event.
    pub(crate) start: u32,
    /// The first event after it.
    pub(crate) end: u32,
    /// A number that stands for the lines that call.
    pub(super) caller: u32,
    /// A number that stands for the functions that call.
    pub(super) calling_code: u32,
    /// A number that stands for the code of the module.
    pub(super) module_code: u32,
    /// Traits from names and decorators: [`StackTrait::NamedEval`] and [`StackTrait::MaybeEval`] of the code around it,
    /// [`StackTrait::NoGrad`] if everything that it allocates has it, [`StackTrait::Checkpointed`] if anything has.
    traits: StackTraits,
    blocks: BlockCount,
    /// Blocks of its first half, without caches of keys and values.
    early_blocks: BlockCount,
    /// How many blocks a backward freed.
    used: u32,
    /// Whether a backward comes after it, and ends.
    has_backward: bool,
    /// Whether a backward comes before the next call.
    precedes_backward: bool,
    /// Whether its activations are for a backward.
    pub(crate) trains: bool,
}

impl Call {
    /// Whether the code around it says that it does not train.
    fn is_eval(&self) -> bool {
        self.traits.has(StackTrait::NamedEval) || self.traits.has(StackTrait::NoGrad)
    }

    /// Whether enough of its memory stays for a graph. Without a graph hardly any block of its first half outlives it; of a
    /// call that was cut off, blocks of the second half do, as they were in use.
    pub(crate) fn keeps_a_graph(&self) -> bool {
        if self.early_blocks.all < MIN_BLOCKS {
            self.blocks.keeps_a_graph()
        } else {
            self.early_blocks.keeps_a_graph()
        }
    }
}

/// The calls of a timeline, in order. Whether they train is not decided yet.
pub(super) fn find_calls(timeline: &Timeline, stacks: &FactsByStack, activities: &Activities) -> Vec<Call> {
    let mut calls = split_into_calls(stacks, &activities.runs);
    count_blocks(&mut calls, timeline, stacks, activities);
    // A backward that the trace ends in has not freed all of its activations yet.
    let is_unfinished = |run: &&Run| matches!(run.activity, Activity::Backward | Activity::Aside);
    let ended = activities.runs.iter().rev().skip_while(is_unfinished);
    let last_backward = ended
        .filter(|run| run.activity == Activity::Backward)
        .map(|run| run.start)
        .next()
        .unwrap_or_default();
    for call in &mut calls {
        call.has_backward = call.start < last_backward;
    }
    calls
}

fn split_into_calls(stacks: &FactsByStack, runs: &[Run]) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut is_open = false;
    for run in runs {
        match run.activity {
            Activity::Call => {
                if is_open && let Some(last) = calls.last_mut().filter(|last| last.caller == run.caller) {
                    last.end = run.end;
                    continue;
                }
                is_open = true;
                calls.push(new_call(stacks, run));
            }
            Activity::Aside | Activity::Nothing => {}
            Activity::Backward => {
                is_open = false;
                if let Some(last) = calls.last_mut() {
                    last.precedes_backward = true;
                }
            }
            _ => is_open = false,
        }
    }
    calls
}

fn new_call(stacks: &FactsByStack, run: &Run) -> Call {
    let facts = stacks.get(run.stack);
    Call {
        start: run.start,
        end: run.end,
        caller: run.caller,
        calling_code: facts.calling_code,
        module_code: facts.module_code,
        traits: facts.traits.only(&[StackTrait::NamedEval, StackTrait::MaybeEval, StackTrait::NoGrad]),
        blocks: BlockCount::default(),
        early_blocks: BlockCount::default(),
        used: 0,
        has_backward: false,
        precedes_backward: false,
        trains: false,
    }
}

/// Count the blocks of each call, and how many were kept or freed by a backward. Workspaces tell nothing: an operation that
/// loops over samples has any number of them.
fn count_blocks(calls: &mut [Call], timeline: &Timeline, stacks: &FactsByStack, activities: &Activities) {
    let lifetimes = &timeline.lifetimes;
    let mut at = 0;
    // Allocations and calls are both in order of time, so one walk meets each call once.
    for id in lifetimes.ids().skip(lifetimes.initial_count()) {
        let Some(event) = lifetimes.start(id).event() else { continue };
        while calls.get(at).is_some_and(|call| call.end <= event.0) {
            at += 1;
        }
        let Some(call) = calls.get_mut(at) else { break };
        if event.0 < call.start || activities.at(event.0) != Activity::Call {
            continue;
        }
        let facts = stacks.get(timeline.events.stack(event));
        call.traits.add_if(StackTrait::Checkpointed, facts.has(StackTrait::Checkpointed));
        if !facts.has(StackTrait::NoGrad) {
            call.traits.remove(StackTrait::NoGrad);
        }
        if lifetimes.is_fleeting(id) {
            continue;
        }
        let freed = free_event(lifetimes, id);
        let is_kept = freed.is_none_or(|freed| call.end <= freed.0);
        call.blocks.add(is_kept);
        if event.0 < call.start.midpoint(call.end) && !facts.has(StackTrait::InCache) {
            call.early_blocks.add(is_kept);
        }
        call.used += u32::from(freed.is_some_and(|freed| is_backward(activities, freed.0)));
    }
}

/// Whether an event belongs to a backward. A free without a stack belongs to what is going on around it.
fn is_backward(activities: &Activities, event: u32) -> bool {
    match activities.at(event) {
        Activity::Backward => true,
        Activity::Nothing => {
            let after = activities.runs.partition_point(|run| run.start <= event);
            let around = after.checked_sub(1).and_then(|at| activities.runs.get(at));
            around.is_some_and(|run| run.activity == Activity::Backward)
        }
        _ => false,
    }
}

/// Decide which calls train. `has_new_data` says of each call whether new data came before it.
///
/// A call trains if a backward frees its activations. If a backward frees next to nothing, because activations are
/// computed again or wait elsewhere, the call before it trained. A call whose activations stay, but not for a backward,
/// still trains if the next call goes on with its results, as when a generator's output is detached; if new data come
/// first, it was an evaluation. So it was if a program that trains by other lines made such calls again and again. Of the last
/// call, which may be cut off, there may be too few blocks to show anything: it trains if the same code did before.
pub(super) fn decide_which_train(calls: &mut [Call], has_new_data: &[bool]) {
    let seen = SeenTraining::mark(calls);
    let untrained = callers_without_backward(calls, has_new_data);
    let repeating = callers_that_repeat(calls);
    let has_trained = seen.balance_of_callers.values().any(|&balance| 0 < balance);
    // A call with as many blocks as the largest before it is whole, however small the model is.
    let largest_before = calls.iter().rev().skip(1).map(|call| call.blocks.all).max();
    let blocks_of_a_whole = largest_before.map_or(MIN_BLOCKS, |most| most.min(MIN_BLOCKS));
    for at in 0..calls.len() {
        let is_last = at + 1 == calls.len();
        let next_code = calls.get(at + 1).map(|next| next.calling_code);
        let next_is_fed = has_new_data.get(at + 1).copied().unwrap_or(false);
        let Some(call) = calls.get_mut(at).filter(|call| !call.trains) else { continue };
        call.trains = match seen.balance_of_callers.get(&call.caller).copied() {
            _ if call.has_backward => {
                let goes_on = next_code == Some(call.calling_code) && !next_is_fed;
                let is_known = seen.calling_code.contains(&call.calling_code);
                call.keeps_a_graph() && !call.is_eval() && goes_on && is_known
            }
            Some(balance) => 0 <= balance,
            None if call.is_eval() => false,
            None if call.traits.has(StackTrait::MaybeEval)
                && (call.blocks.all < MIN_BLOCKS || untrained.contains(&call.caller)) =>
            {
                call.traits.has(StackTrait::Checkpointed)
            }
            // Where the program trains by other lines, this is how it evaluates, even with a graph.
            None if has_trained && repeating.contains(&call.caller) => {
                call.traits.has(StackTrait::Checkpointed)
            }
            // Checkpointing keeps hardly anything, but is only of use for a backward.
            None if is_last && call.blocks.all < blocks_of_a_whole => {
                seen.calling_code.contains(&call.calling_code)
            }
            None => call.traits.has(StackTrait::Checkpointed) || call.keeps_a_graph(),
        };
    }
}

/// The training that backwards show.
#[derive(Default)]
struct SeenTraining {
    /// Of each caller that a backward followed: how many of its calls trained, less those that did not.
    balance_of_callers: HashMap<u32, i64>,
    /// Code whose calls trained.
    calling_code: HashSet<u32>,
}

impl SeenTraining {
    /// Mark the calls that backwards show to train: their activations were freed by one, or they came just before one that
    /// frees no call's.
    fn mark(calls: &mut [Call]) -> Self {
        let mut out = Self::default();
        let mut is_explained = false;
        for call in calls.iter_mut() {
            call.trains = call.has_backward && call.blocks.all / USED_PART < call.used;
            is_explained |= call.trains;
            if call.precedes_backward {
                call.trains |= !is_explained;
                is_explained = false;
            }
            if call.has_backward {
                *out.balance_of_callers.entry(call.caller).or_default() += if call.trains { 1 } else { -1 };
            }
            if call.trains {
                out.calling_code.insert(call.calling_code);
            }
        }
        out
    }
}

/// The callers that called again with new data although no backward had followed the call before.
fn callers_without_backward(calls: &[Call], has_new_data: &[bool]) -> HashSet<u32> {
    let pairs = calls.iter().zip(calls.iter().zip(has_new_data).skip(1));
    let again = pairs
        .filter(|(call, (next, is_fed))| **is_fed && next.caller == call.caller && !call.precedes_backward);
    again.map(|(call, _)| call.caller).collect()
}

/// The callers that made a call with as many blocks as one before it, although no backward had come between.
fn callers_that_repeat(calls: &[Call]) -> HashSet<u32> {
    let mut repeating = HashSet::default();
    let mut since_backward: HashSet<(u32, u32)> = HashSet::default();
    for call in calls {
        if MIN_BLOCKS <= call.blocks.all && !since_backward.insert((call.caller, call.blocks.all)) {
            repeating.insert(call.caller);
        }
        if call.precedes_backward {
            since_backward.clear();
        }
    }
    repeating
}

#[cfg(test)]
#[path = "calls_tests.rs"]
mod tests;
