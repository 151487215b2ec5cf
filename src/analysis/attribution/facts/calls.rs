//! Calls of models, and whether they train.

use super::acts::{Act, Acts, Run};
use super::place::Places;
use crate::model::Timeline;
use foldhash::{HashMap, HashSet};

/// A call with fewer blocks in its first half is judged as a whole.
const MIN_BLOCKS: u32 = 8;

/// One call of a model from outside of any model.
#[expect(clippy::struct_excessive_bools, reason = "each says another thing of the same call")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::analysis) struct Call {
    /// Its first event.
    pub(in crate::analysis) start: u32,
    /// The first event after it.
    pub(in crate::analysis) end: u32,
    /// Who called: line by line, and by functions only.
    pub(super) caller: u32,
    pub(super) calling_code: u32,
    /// Names on the way say that this is no training.
    says_eval: bool,
    /// Names on the way say that it may be none.
    may_eval: bool,
    /// A decorator switches gradients off for all that it allocates.
    no_grad: bool,
    /// How many blocks it allocated.
    blocks: u32,
    /// How many of these outlived it.
    kept: u32,
    /// The same for its first half, without caches of keys and values.
    early_blocks: u32,
    early_kept: u32,
    /// How many of these the backward gave back.
    used: u32,
    /// Parts of it will be computed again by checkpointing, which keeps hardly anything.
    checkpoints: bool,
    /// Whether a backward comes after it, and ends.
    has_backward: bool,
    /// Whether a backward comes before the next call.
    precedes_backward: bool,
    /// Whether it trains: its activations are for a backward.
    pub(in crate::analysis) trains: bool,
}

impl Call {
    /// Whether the code around it says that this is no training.
    fn is_eval(&self) -> bool {
        self.says_eval || self.no_grad
    }

    /// Whether so much of what it allocated stayed as a graph keeps. Without a graph hardly anything
    /// of its first half outlives it; of its second half, what it was working on when it was cut off.
    pub(in crate::analysis) fn keeps(&self) -> bool {
        if self.early_blocks < MIN_BLOCKS {
            self.blocks / 5 < self.kept
        } else {
            self.early_blocks / 5 < self.early_kept
        }
    }
}

/// The calls of a timeline, in order; whether they train is not decided yet.
pub(super) fn find(timeline: &Timeline, places: &Places, acts: &Acts) -> Vec<Call> {
    let mut calls = separate(places, &acts.runs);
    weigh(&mut calls, timeline, places, acts);
    // A backward that the trace ends in has not yet given back what it will.
    let ended = acts.runs.iter().rev().skip_while(|run| matches!(run.act, Act::Backward | Act::Aside));
    let last_backward =
        ended.filter(|run| run.act == Act::Backward).map(|run| run.start).next().unwrap_or_default();
    for call in &mut calls {
        call.has_backward = call.start < last_backward;
    }
    calls
}

fn separate(places: &Places, runs: &[Run]) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut is_open = false;
    for run in runs {
        match run.act {
            Act::Call => {
                if is_open && let Some(last) = calls.last_mut().filter(|last| last.caller == run.caller) {
                    last.end = run.end;
                    continue;
                }
                let place = places.get(run.stack);
                is_open = true;
                calls.push(Call {
                    start: run.start,
                    end: run.end,
                    caller: run.caller,
                    calling_code: place.calling_code,
                    says_eval: place.says_eval,
                    may_eval: place.may_eval,
                    no_grad: place.no_grad,
                    blocks: 0,
                    kept: 0,
                    early_blocks: 0,
                    early_kept: 0,
                    used: 0,
                    checkpoints: false,
                    has_backward: false,
                    precedes_backward: false,
                    trains: false,
                });
            }
            Act::Aside | Act::Nothing => {}
            Act::Backward => {
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

/// What became of the memory of each call.
fn weigh(calls: &mut [Call], timeline: &Timeline, places: &Places, acts: &Acts) {
    let lifetimes = &timeline.lifetimes;
    let mut at = 0;
    for id in (lifetimes.initial_count() as u32..lifetimes.len() as u32).map(crate::model::AllocId) {
        let Some(event) = lifetimes.start(id).event() else { continue };
        while calls.get(at).is_some_and(|call| call.end <= event.0) {
            at += 1;
        }
        let Some(call) = calls.get_mut(at) else { break };
        if event.0 < call.start || acts.at(event.0) != Act::Call {
            continue;
        }
        let place = places.get(timeline.events.stack(event));
        call.checkpoints |= place.checkpoints;
        call.no_grad &= place.no_grad;
        let is_early = event.0 < call.start.midpoint(call.end) && !place.in_cache;
        call.blocks += 1;
        call.early_blocks += u32::from(is_early);
        let gone = lifetimes.requested(id).or(lifetimes.end(id)).and_then(crate::model::Moment::event);
        if gone.is_none_or(|gone| call.end <= gone.0) {
            call.kept += 1;
            call.early_kept += u32::from(is_early);
        }
        if gone.is_some_and(|gone| acts.at(gone.0) == Act::Backward || is_within_backward(acts, gone.0)) {
            call.used += 1;
        }
    }
}

/// Frees without stacks: they belong to what is going on around them.
fn is_within_backward(acts: &Acts, event: u32) -> bool {
    if acts.at(event) != Act::Nothing {
        return false;
    }
    let after = acts.runs.partition_point(|run| run.start <= event);
    after.checked_sub(1).and_then(|at| acts.runs.get(at)).is_some_and(|run| run.act == Act::Backward)
}

/// Whether each call trains. `is_fed` says of each whether new data came before it.
///
/// What a backward gives back was for training; and if it gives back next to nothing, as activations
/// are computed again or wait elsewhere, the call before it was. A call whose activations stay, but
/// not for a backward, is still one of training where the next call goes on with its results, as when
/// a generator's output is detached; where new data come first, it was an evaluation.
pub(super) fn decide(calls: &mut [Call], is_fed: &[bool]) {
    let mut lines: HashMap<u32, i64> = HashMap::default();
    let mut functions: HashSet<u32> = HashSet::default();
    let mut is_explained = false;
    for call in calls.iter_mut() {
        call.trains = call.has_backward && call.blocks / 20 < call.used;
        is_explained |= call.trains;
        if call.precedes_backward {
            call.trains |= !is_explained;
            is_explained = false;
        }
        if call.has_backward {
            *lines.entry(call.caller).or_default() += if call.trains { 1 } else { -1 };
        }
        if call.trains {
            functions.insert(call.calling_code);
        }
    }
    let untrained = untrained(calls, is_fed);
    for at in 0..calls.len() {
        let next = calls.get(at + 1).map(|next| next.calling_code);
        let next_is_fed = is_fed.get(at + 1).copied().unwrap_or(false);
        let Some(call) = calls.get_mut(at).filter(|call| !call.trains) else { continue };
        let known = lines.get(&call.caller).copied();
        call.trains = match known {
            _ if call.has_backward => {
                let goes_on = next == Some(call.calling_code) && !next_is_fed;
                call.keeps() && !call.is_eval() && goes_on && functions.contains(&call.calling_code)
            }
            Some(balance) => 0 <= balance,
            None if call.is_eval() => false,
            // Of a few blocks one or two stay in any case.
            None if call.may_eval && (call.blocks < MIN_BLOCKS || untrained.contains(&call.caller)) => {
                call.checkpoints
            }
            None => call.checkpoints || call.keeps(),
        };
    }
}

/// Who called again with new data, while nothing had come of the call before.
fn untrained(calls: &[Call], is_fed: &[bool]) -> HashSet<u32> {
    let pairs = calls.iter().zip(calls.iter().zip(is_fed).skip(1));
    let again = pairs
        .filter(|(call, (next, is_fed))| **is_fed && next.caller == call.caller && !call.precedes_backward);
    again.map(|(call, _)| call.caller).collect()
}

#[cfg(test)]
#[path = "calls_tests.rs"]
mod tests;
