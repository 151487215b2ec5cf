//! The lines of the user's own code below which memory was allocated.

use super::Case;
use crate::finding::StackBytes;
use foldhash::HashMap;
use oomscope_analysis::FrameKey;
use oomscope_model::{Bytes, Moment, StackId};
use oomscope_program::share::{MOST, SAME, share};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Steps in which scores are compared.
const SCORE_STEPS: f64 = 10.0;

/// A line of the user's own code, and the part of some stacks that was allocated below it.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    pub(crate) key: FrameKey,
    pub(crate) bytes: Bytes,
    /// Number of allocations.
    pub(crate) count: usize,
    /// The most own lines between this one and an allocation.
    pub(crate) depth: usize,
    /// The share of `bytes` in everything that was ever allocated below the line, freed memory included.
    pub(crate) share: f64,
    /// Whether nearly everything else was allocated below it, too.
    pub(crate) is_start: bool,
}

/// The callers of some stacks, most bytes first; those that nearly everything else has, too, come last.
pub(crate) fn callers_of(case: &Case<'_>, stacks: &[StackBytes], among: Among) -> Vec<Caller> {
    let mut callers: BTreeMap<FrameKey, Caller> = BTreeMap::new();
    for row in stacks {
        for (depth, key) in unique(case.code.own_path(row.stack)).into_iter().enumerate() {
            let new = Caller { key, bytes: Bytes::ZERO, count: 0, depth, share: 0.0, is_start: false };
            let caller = callers.entry(key).or_insert(new);
            caller.bytes += row.bytes;
            caller.count += row.count;
            caller.depth = caller.depth.max(depth);
        }
    }
    let lines = callers.keys().copied().collect();
    let all = match among {
        Among::Made => below_lines(case, &lines, made_stacks(case)),
        Among::Live => below_lines(case, &lines, case.live_stacks().iter().map(|row| (row.stack, row.bytes))),
    };
    for (key, caller) in &mut callers {
        let below = all.by_line.get(key).copied().unwrap_or_default();
        caller.share = share(caller.bytes, below.max(caller.bytes));
        // Naming the start of the program says nothing. It has all that is live below it, which counts against it enough.
        caller.is_start = among == Among::Made && SAME.is_reached(below, all.all);
    }
    let mut callers: Vec<Caller> = callers.into_values().collect();
    callers.sort_by_key(|caller| (caller.is_start, Reverse(caller.bytes), caller.depth, caller.key));
    callers
}

/// What the memory below a line is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Among {
    /// All that was ever made below it: what each repetition leaves is told so from what each frees.
    Made,
    /// All that is live below it: what was made once is told so from what else is there.
    Live,
}

/// The callers of some live stacks, those that lead to most of it and to least else first: by the F-score of precision
/// and recall. Where a tenth of the best score is all the difference, the innermost comes first.
pub(crate) fn leading(case: &Case<'_>, stacks: &[StackBytes], among: Among) -> Vec<Caller> {
    let mut callers = callers_of(case, stacks, among);
    let all = stacks.iter().map(|row| row.bytes).sum::<Bytes>();
    let score = |caller: &Caller| {
        let (precision, recall) = (caller.share, share(caller.bytes, all));
        2.0 * precision * recall / (precision + recall).max(f64::MIN_POSITIVE)
    };
    let best = callers.iter().map(score).fold(f64::MIN_POSITIVE, f64::max);
    let rank = |caller: &Caller| (score(caller) / best * SCORE_STEPS).round() as i64;
    callers.sort_by_key(|caller| {
        (caller.is_start, Reverse(rank(caller)), caller.depth, Reverse(caller.bytes), caller.key)
    });
    callers
}

/// The caller of most of some stacks that is furthest from where they allocate, and not the start of the program: a call
/// in a loop of the program.
pub(crate) fn main_caller(case: &Case<'_>, stacks: &[StackBytes]) -> Option<Caller> {
    let all = stacks.iter().map(|row| row.bytes).sum::<Bytes>();
    let is_main = |caller: &Caller| !caller.is_start && MOST.is_reached(caller.bytes, all);
    let callers = callers_of(case, stacks, Among::Made).into_iter().filter(is_main);
    callers.max_by_key(|caller| (caller.depth, Reverse(caller.key)))
}

/// Each line once, at its innermost frame: recursion repeats lines.
fn unique(path: Vec<FrameKey>) -> Vec<FrameKey> {
    let mut seen = BTreeSet::new();
    path.into_iter().filter(|&key| seen.insert(key)).collect()
}

/// Bytes below lines.
struct Allocated {
    /// Below each of some lines.
    by_line: HashMap<FrameKey, Bytes>,
    /// Below any line of the user's own code.
    all: Bytes,
}

/// Bytes that each stack allocated from the first repetition until the moment, freed ones included.
fn made_stacks(case: &Case<'_>) -> Vec<(StackId, Bytes)> {
    let first = case.repetitions.start(0).map_or(Moment::START, |event| Moment(event.0));
    let mut by_stack: HashMap<StackId, Bytes> = HashMap::default();
    for id in case.recording.lifetimes.started_between(first, case.moment) {
        let sum = by_stack.entry(case.recording.stack(id)).or_default();
        *sum += case.recording.size(id);
    }
    by_stack.into_iter().collect()
}

/// Bytes of stacks by line.
fn below_lines(
    case: &Case<'_>,
    lines: &BTreeSet<FrameKey>,
    stacks: impl IntoIterator<Item = (StackId, Bytes)>,
) -> Allocated {
    let mut out = Allocated { by_line: HashMap::default(), all: Bytes::ZERO };
    for (stack, bytes) in stacks {
        let path = unique(case.code.own_path(stack));
        if !path.is_empty() {
            out.all += bytes;
        }
        for key in path.into_iter().filter(|key| lines.contains(key)) {
            let sum = out.by_line.entry(key).or_default();
            *sum += bytes;
        }
    }
    out
}
