//! The lines of code below which memory was made.

use super::{Context, StackBytes};
use crate::analysis::FrameKey;
use crate::model::StackId;
use foldhash::HashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Lines that lead to so much of all that was allocated say little: the start of the program.
const NEARLY_EVERYTHING: f64 = 0.98;

/// A line that leads to this share is the one that most of it comes from.
const MOST: f64 = 0.6;

/// What some stacks hold below a line.
#[derive(Default, Clone, Copy)]
pub(super) struct Below {
    pub(super) bytes: i64,
    pub(super) count: usize,
    /// How far from the innermost frame, at most.
    pub(super) depth: usize,
    /// What share that is of all that was allocated below the line, freed memory included.
    pub(super) share: f64,
    /// Whether it leads to nearly everything else, too.
    pub(super) is_start: bool,
}

/// Lines of the user's own code that lead to some stacks, most bytes first; those that lead to nearly
/// everything else, too, come last.
pub(super) fn lines_below(context: &Context<'_>, stacks: &[StackBytes]) -> Vec<(FrameKey, Below)> {
    let mut lines: BTreeMap<FrameKey, Below> = BTreeMap::new();
    for row in stacks {
        for (depth, key) in unique(context.code.own_path(row.stack)).into_iter().enumerate() {
            let below = lines.entry(key).or_default();
            below.bytes = below.bytes.saturating_add(row.bytes);
            below.count += row.count;
            below.depth = below.depth.max(depth);
        }
    }
    let (made, all) = made_below(context, &lines.keys().copied().collect());
    let of = |key: &FrameKey| made.get(key).copied().unwrap_or(0);
    for (key, below) in &mut lines {
        below.share = Context::share(below.bytes, of(key).max(below.bytes));
        below.is_start = NEARLY_EVERYTHING <= Context::share(of(key), all);
    }
    let mut lines: Vec<(FrameKey, Below)> = lines.into_iter().collect();
    lines.sort_by_key(|&(key, below)| (below.is_start, Reverse(below.bytes), below.depth, key));
    lines
}

/// The line furthest from where memory is allocated that leads to most of what some stacks hold, and
/// not to everything else as well: a call in a loop of the program's own.
pub(super) fn call_of_most(context: &Context<'_>, stacks: &[StackBytes]) -> Option<(FrameKey, Below)> {
    let all = stacks.iter().fold(0i64, |sum, row| sum.saturating_add(row.bytes));
    let leads = |below: &Below| !below.is_start && MOST <= Context::share(below.bytes, all);
    let lines = lines_below(context, stacks).into_iter().filter(|(_, below)| leads(below));
    lines.max_by_key(|&(key, below)| (below.depth, Reverse(key)))
}

fn unique(path: Vec<FrameKey>) -> Vec<FrameKey> {
    let mut seen = BTreeSet::new();
    path.into_iter().filter(|&key| seen.insert(key)).collect()
}

/// Bytes that were allocated below some lines from the first round until the moment, and by all of the user's
/// own code, freed ones included.
fn made_below(context: &Context<'_>, lines: &BTreeSet<FrameKey>) -> (HashMap<FrameKey, i64>, i64) {
    let timeline = context.timeline;
    let first = context.rounds.start(0).map_or(0, |event| event.0);
    let mut by_stack: Vec<i64> = vec![0; context.snapshot.stacks.len()];
    for id in timeline.lifetimes.ids() {
        let start = timeline.lifetimes.start(id);
        if start.0 <= first || context.moment < start {
            continue;
        }
        let stack = timeline.lifetimes.stack(id, &timeline.events);
        let sum = &mut by_stack[stack.index()];
        *sum = sum.saturating_add(timeline.lifetimes.size(id, &timeline.events));
    }
    let mut all = 0i64;
    let mut made: HashMap<FrameKey, i64> = HashMap::default();
    for (stack, bytes) in (0..).map(StackId).zip(by_stack).filter(|&(_, bytes)| bytes != 0) {
        let path = unique(context.code.own_path(stack));
        if !path.is_empty() {
            all = all.saturating_add(bytes);
        }
        for key in path.into_iter().filter(|key| lines.contains(key)) {
            let sum = made.entry(key).or_default();
            *sum = sum.saturating_add(bytes);
        }
    }
    (made, all)
}
