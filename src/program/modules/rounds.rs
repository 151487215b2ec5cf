//! The rounds of a function: the calls of it that look like one, or the turns of its loop.
//!
//! Control goes back to where a round began only when the next one begins. Whether the function was called again or goes on
//! in a loop does not show, and makes no difference to what each round allocates.

use super::call_tree::{CallTree, NodeIx};
use crate::model::FrameId;
use foldhash::{HashMap, HashSet};
use std::ops::Range;

/// The rounds of a node, as ranges of the tree's items. What comes before and after a loop is in none.
pub(super) fn rounds(tree: &CallTree, node: NodeIx) -> Vec<Range<usize>> {
    let all = tree.nodes[node].items.clone();
    match anchor(tree, &all) {
        Some(line) => by_line(tree, all, line),
        None => by_period(tree, all),
    }
}

/// The first line that a function comes back to after another.
fn anchor(tree: &CallTree, all: &Range<usize>) -> Option<FrameId> {
    let mut visits: HashMap<FrameId, usize> = HashMap::default();
    let mut first: Option<(usize, FrameId)> = None;
    let runs = tree.items[all.clone()].chunk_by(|a, b| a.line == b.line);
    for (at, run) in runs.enumerate() {
        let seen = *visits.entry(run[0].line).or_insert(at);
        if seen != at && first.is_none_or(|(first, _)| seen < first) {
            first = Some((seen, run[0].line));
        }
    }
    first.map(|(_, line)| line)
}

/// Rounds that begin with a line. The last ends with what others do, too: what follows a loop is no part of it.
fn by_line(tree: &CallTree, all: Range<usize>, line: FrameId) -> Vec<Range<usize>> {
    let begins =
        |at: &usize| tree.items[*at].line == line && (*at == all.start || tree.items[*at - 1].line != line);
    let starts: Vec<usize> = all.clone().filter(begins).collect();
    let ends = starts.iter().copied().skip(1).chain([all.end]);
    let mut rounds: Vec<Range<usize>> =
        starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect();
    if let Some((last, others)) = rounds.split_last_mut() {
        let others = others.iter().flat_map(|round| &tree.items[round.clone()]);
        let known: HashSet<FrameId> = others.map(|item| item.line).collect();
        let beyond = tree.items[last.clone()].iter().rev().take_while(|item| !known.contains(&item.line));
        last.end -= beyond.count().min(last.len() - 1);
    }
    rounds
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
