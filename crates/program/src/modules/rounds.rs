//! The rounds of a function: the calls of it that look like one, or the turns of its loop.
//!
//! Whether the function was called again or goes on in a loop does not show, and makes no difference to what each round
//! allocates. A round is over when something comes again that it did before; the next one begins where control went back
//! furthest, in lines, since then. Functions of one name in one file look like one function, too: lines that are visited while
//! others are belong to one of them.

use super::call_tree::{CallTree, NodeIx};
use foldhash::HashMap;
use oomscope_model::FrameId;
use std::ops::Range;

/// The next round is looked for among this many lines that were visited last: no block visits more.
const MAX_VISITS: usize = 1024;

/// The rounds of a node, as ranges of the tree's items. Together they are all of it. If they are calls with a loop in each, the
/// turns of those are not among them.
pub(super) fn rounds(tree: &CallTree, node: NodeIx) -> Vec<Range<usize>> {
    split(tree, tree.nodes[node].items.clone(), |visits, starts| {
        let is_turn = turns(tree, visits, &starts);
        starts.into_iter().zip(is_turn).filter(|(_, is_turn)| !is_turn).map(|(start, _)| start).collect()
    })
}

/// The turns of the loops in a round, with what is before, between and after them.
pub(super) fn rounds_within(tree: &CallTree, round: &Range<usize>) -> Vec<Range<usize>> {
    split(tree, round.clone(), |_, starts| starts)
}

/// Split consecutive items of a node into rounds. `chosen` says which of the starts in a stretch of them count.
fn split(
    tree: &CallTree,
    all: Range<usize>,
    chosen: impl Fn(&[Range<usize>], Vec<usize>) -> Vec<usize>,
) -> Vec<Range<usize>> {
    let visits = visits_of_lines(tree, &all);
    if visits.len() < 2 {
        return by_period(tree, all);
    }
    let mut rounds: Vec<Range<usize>> = Vec::new();
    let mut is_alone = false;
    for stretch in stretches(tree, &visits) {
        let starts = chosen(&visits, starts(tree, &visits, &stretch));
        let (was_alone, start) = (is_alone, visits[stretch.start].start);
        is_alone = starts.len() == 1;
        if let Some(before) = rounds.last_mut().filter(|_| was_alone && is_alone) {
            before.end = visits[stretch.end - 1].end;
            continue;
        }
        let bounds = starts[1..].iter().map(|&start| visits[start].start);
        let ends = bounds.clone().chain([visits[stretch.end - 1].end]);
        rounds.extend([start].into_iter().chain(bounds).zip(ends).map(|(start, end)| start..end));
    }
    rounds
}

/// Whether control went back less far to each start than it did elsewhere, from a later line to an earlier one: a loop within
/// what goes on again and again.
fn turns(tree: &CallTree, visits: &[Range<usize>], starts: &[usize]) -> Vec<bool> {
    let number = |visit: usize| tree.line_number(&tree.items[visits[visit].start]);
    let jump = |&start: &usize| (number(start), number(start - 1));
    // The first start is where the stretch begins.
    let mut jumps: Vec<(i64, i64)> = starts[1..].iter().map(jump).collect();
    jumps.sort_unstable();
    // For each line, the last one that control went back from to an earlier line.
    let mut latest: Vec<(i64, i64)> = Vec::new();
    let mut last = i64::MIN;
    for of_line in jumps.chunk_by(|a, b| a.0 == b.0) {
        latest.push((of_line[0].0, last));
        last = last.max(of_line[of_line.len() - 1].1);
    }
    let is_turn = |start: &usize| {
        let (to, from) = jump(start);
        let at = latest.partition_point(|&(line, _)| line < to);
        latest.get(at).is_some_and(|&(_, last)| from < last)
    };
    [false].into_iter().chain(starts[1..].iter().map(is_turn)).collect()
}

/// Consecutive items of one line.
fn visits_of_lines(tree: &CallTree, all: &Range<usize>) -> Vec<Range<usize>> {
    let mut start = all.start;
    let visits = tree.items[all.clone()].chunk_by(|a, b| a.line == b.line).map(|visit| {
        let range = start..start + visit.len();
        start = range.end;
        range
    });
    visits.collect()
}

/// Ranges of visits, none of whose lines is visited in another.
fn stretches(tree: &CallTree, visits: &[Range<usize>]) -> Vec<Range<usize>> {
    let line = |visit: usize| tree.items[visits[visit].start].line;
    let last: HashMap<FrameId, usize> = (0..visits.len()).map(|visit| (line(visit), visit)).collect();
    let mut out = Vec::new();
    let (mut start, mut end) = (0, 0);
    for visit in 0..visits.len() {
        end = end.max(last.get(&line(visit)).map_or(visit, |&last| last) + 1);
        if end == visit + 1 {
            out.push(start..end);
            start = end;
        }
    }
    out
}

/// The visits with which the rounds of a stretch begin.
fn starts(tree: &CallTree, visits: &[Range<usize>], stretch: &Range<usize>) -> Vec<usize> {
    let number = |visit: usize| tree.line_number(&tree.items[visits[visit].start]);
    let mut starts = vec![stretch.start];
    let mut start = stretch.start;
    let mut latest = HashMap::default();
    for visit in stretch.clone() {
        let keys = || tree.items[visits[visit].clone()].iter().map(|item| tree.key(item));
        let again =
            keys().filter_map(|key| latest.get(&key).copied()).filter(|&before| start <= before).max();
        if let Some(before) = again {
            let first = (before + 1).max(visit.saturating_sub(MAX_VISITS));
            let back = |visit: &usize| number(visit - 1).saturating_sub(number(*visit));
            // Of equal ones, the last.
            start = (first..=visit).max_by_key(back).unwrap_or(visit);
            starts.push(start);
        }
        latest.extend(keys().map(|key| (key, visit)));
    }
    starts
}

/// Rounds of a function with one line: the shortest sequence that it repeats.
fn by_period(tree: &CallTree, all: Range<usize>) -> Vec<Range<usize>> {
    let keys: Vec<_> = tree.items[all.clone()].iter().map(|item| tree.key(item)).collect();
    let period = period(&keys);
    if period < 2 || !keys.len().is_multiple_of(period) {
        return vec![all];
    }
    all.clone().step_by(period).map(|start| start..start + period).collect()
}

/// The length of the shortest sequence that, repeated, gives another; the last time may be cut.
fn period<T: PartialEq>(all: &[T]) -> usize {
    // How much of the start of the sequence ends at each place.
    let mut matching = vec![0; all.len()];
    let mut length = 0;
    for at in 1..all.len() {
        while length != 0 && all[at] != all[length] {
            length = matching[length - 1];
        }
        length += usize::from(all[at] == all[length]);
        matching[at] = length;
    }
    all.len() - matching.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_round_is_found() {
        assert_eq!(period(&[1, 2, 1, 3, 1, 2, 1, 3]), 4);
        assert_eq!(period(&[1, 1, 1]), 1);
        assert_eq!(period(&[1, 2, 3]), 3);
        assert_eq!(period(&[1, 2, 1]), 2);
    }
}
