//! The rounds of a function: the calls of it that look like one, or the turns of its loop.
//!
//! Whether the function was called again or goes on in a loop does not show, and makes no difference to what each round
//! allocates. Control goes back furthest, in lines, where the next round begins. Functions of one name in one file look like one
//! function, too, so a node may have several stretches of rounds.

use super::call_tree::{CallTree, NodeIx};
use crate::model::FrameId;
use foldhash::{HashMap, HashSet};
use std::cmp::Reverse;
use std::ops::Range;

/// A node is searched for at most this many stretches: more functions of one name are not called from one line.
const MAX_STRETCHES: usize = 64;

/// The rounds of a node, as ranges of the tree's items. What comes before and after a loop is in none.
pub(super) fn rounds(tree: &CallTree, node: NodeIx) -> Vec<Range<usize>> {
    let all = tree.nodes[node].items.clone();
    let runs = runs_of_lines(tree, &all);
    if runs.len() < 2 {
        return by_period(tree, all);
    }
    let mut rounds = Vec::new();
    let mut open = vec![0..runs.len()];
    for _ in 0..MAX_STRETCHES {
        let Some(stretch) = open.pop() else { break };
        let Some(found) = by_line(tree, &runs[stretch.clone()]) else { continue };
        let (first, last) = (stretch.start + found[0].start, stretch.start + found[found.len() - 1].end);
        open.extend([stretch.start..first, last..stretch.end].into_iter().filter(|rest| !rest.is_empty()));
        let of_items = |round: &Range<usize>| {
            runs[stretch.start + round.start].start..runs[stretch.start + round.end - 1].end
        };
        rounds.extend(found.iter().map(of_items));
    }
    rounds.sort_unstable_by_key(|round| round.start);
    if rounds.is_empty() { vec![all] } else { rounds }
}

/// Consecutive items of one line.
fn runs_of_lines(tree: &CallTree, all: &Range<usize>) -> Vec<Range<usize>> {
    let mut start = all.start;
    let runs = tree.items[all.clone()].chunk_by(|a, b| a.line == b.line).map(|run| {
        let range = start..start + run.len();
        start = range.end;
        range
    });
    runs.collect()
}

/// The rounds of a stretch, as ranges of its runs: one for each visit of the line that is visited most. `None` if it comes back to
/// no line.
fn by_line(tree: &CallTree, runs: &[Range<usize>]) -> Option<Vec<Range<usize>>> {
    let line = |run: usize| tree.items[runs[run].start].line;
    let mut visits: HashMap<FrameId, Vec<usize>> = HashMap::default();
    for run in 0..runs.len() {
        visits.entry(line(run)).or_default().push(run);
    }
    let most = visits.values().max_by_key(|visits| (visits.len(), Reverse(visits[0])))?;
    let number = |run: usize| tree.items[runs[run].start].line_number;
    // Of equal ones, the first.
    let furthest_back = |pair: &[usize]| {
        (pair[0] + 1..=pair[1]).max_by_key(|&run| (number(run - 1).saturating_sub(number(run)), Reverse(run)))
    };
    let cuts: Vec<usize> = most.windows(2).filter_map(furthest_back).collect();
    let (&first, &last) = (cuts.first()?, cuts.last()?);
    let later: HashSet<FrameId> = (first..runs.len()).map(line).collect();
    let earlier: HashSet<FrameId> = (0..last).map(line).collect();
    let start = (0..most[0]).rev().take_while(|&run| later.contains(&line(run))).last().unwrap_or(most[0]);
    let from = most[most.len() - 1] + 1;
    let end = from + (from..runs.len()).take_while(|&run| earlier.contains(&line(run))).count();
    let bounds: Vec<usize> = [start].into_iter().chain(cuts).chain([end]).collect();
    Some(bounds.windows(2).map(|bounds| bounds[0]..bounds[1]).collect())
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
