//! The label of every stack, made once, and the order of the labels.

use super::frame_names::{FrameKey, FrameNames};
use foldhash::HashSet;
use oomscope_model::{Snapshot, StackId};
use rayon::prelude::*;

/// The labels of all stacks, such as those of their sites, with their order.
#[derive(Debug, Default)]
pub struct StackLabels {
    /// The different labels in alphabetical order; one that stands for none comes last.
    labels: Vec<String>,
    /// Index into `labels`, by stack.
    ranks: Vec<u32>,
}

impl StackLabels {
    /// The sites of a file's stacks; see [`site_label`](super::site_label). The time grows with the number of frames in its stacks.
    pub fn of_sites(snapshot: &Snapshot) -> Self {
        let names = FrameNames::new(snapshot);
        let stacks = (0..snapshot.stacks.len() as u32).into_par_iter();
        let sites: Vec<FrameKey> = stacks.map(|stack| names.site(snapshot, StackId(stack))).collect();
        let label = |stack: u32| names.get(sites[stack as usize]).label.as_str();
        // `false` sorts before `true`: the label of the empty stack comes last.
        let place = |stack: u32| (stack == StackId::EMPTY.0, label(stack));
        let mut order: Vec<u32> = (0..sites.len() as u32).collect();
        order.par_sort_unstable_by(|&a, &b| {
            let is_same =
                sites[a as usize] == sites[b as usize] && a != StackId::EMPTY.0 && b != StackId::EMPTY.0;
            if is_same { a.cmp(&b) } else { place(a).cmp(&place(b)).then(a.cmp(&b)) }
        });
        let mut out = Self { labels: Vec::new(), ranks: vec![0; sites.len()] };
        for stack in order {
            if stack == StackId::EMPTY.0 || out.labels.last().is_none_or(|last| last != label(stack)) {
                out.labels.push(label(stack).to_owned());
            }
            out.ranks[stack as usize] = out.labels.len() as u32 - 1;
        }
        out
    }

    /// Labels by stack. Empty ones come last in their order.
    pub fn of(by_stack: &[&str]) -> Self {
        let mut order: Vec<u32> = (0..by_stack.len() as u32).collect();
        let place = |stack: u32| (by_stack[stack as usize].is_empty(), by_stack[stack as usize], stack);
        order.sort_unstable_by(|&a, &b| place(a).cmp(&place(b)));
        let mut out = Self { labels: Vec::new(), ranks: vec![0; by_stack.len()] };
        for stack in order {
            let label = by_stack[stack as usize];
            if out.labels.last().is_none_or(|last| last != label) {
                out.labels.push(label.to_owned());
            }
            out.ranks[stack as usize] = out.labels.len() as u32 - 1;
        }
        out
    }

    /// Number of different labels.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// True if there are no stacks.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// How much of the code of both is the same, from 0 to 1: of all functions, the share of those that are in both. Their lines may
    /// have moved.
    pub fn likeness(&self, other: &Self) -> f64 {
        let [ours, theirs] = [self.functions(), other.functions()];
        let common = ours.intersection(&theirs).count();
        let all = ours.len() + theirs.len() - common;
        if all == 0 { 1.0 } else { common as f64 / all as f64 }
    }

    /// The files and functions of all labels.
    fn functions(&self) -> HashSet<(&str, &str)> {
        self.labels.iter().map(|label| function(label)).collect()
    }

    /// The label of a stack; empty for a stack that the file does not have.
    pub fn label(&self, stack: StackId) -> &str {
        self.labels.get(self.rank(stack) as usize).map_or("", String::as_str)
    }

    /// The place of a stack's label in the order of labels. Equal labels have equal places.
    #[inline]
    pub fn rank(&self, stack: StackId) -> u32 {
        self.ranks.get(stack.index()).copied().unwrap_or_default()
    }
}

/// The file and the function of a label such as `train.py:40 forward`.
fn function(label: &str) -> (&str, &str) {
    let (file, rest) = label.split_once(':').unwrap_or((label, ""));
    (file, rest.trim_start_matches(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site_label;
    use oomscope_fixtures::tables::snapshot;

    #[test]
    fn labels_that_are_given_are_in_order_and_empty_ones_last() {
        let labels = StackLabels::of(&["b", "", "a", "b"]);
        let stacks = || (0..4).map(StackId);
        assert_eq!(stacks().map(|stack| labels.label(stack)).collect::<Vec<_>>(), ["b", "", "a", "b"]);
        assert_eq!(stacks().map(|stack| labels.rank(stack)).collect::<Vec<_>>(), [1, 2, 0, 1]);
        assert_eq!(labels.len(), 3);
        assert_eq!(labels.likeness(&StackLabels::of(&["a", "c"])), 0.25, "one of a, b, c and none");
        assert_eq!(labels.likeness(&labels), 1.0);
        let moved = [StackLabels::of(&["a.py:1 f", "a.py:9 g"]), StackLabels::of(&["a.py:7 f", "b.py:9 g"])];
        assert_eq!(moved[0].likeness(&moved[1]), 1.0 / 3.0);
    }

    #[test]
    fn labels_are_those_of_their_stacks_and_ranks_follow_the_alphabet() {
        let snapshot = snapshot(&[]);
        let labels = StackLabels::of_sites(&snapshot);
        let stacks = || (0..snapshot.stacks.len() as u32).map(StackId);
        for stack in stacks() {
            assert_eq!(labels.label(stack), site_label(&snapshot, stack));
        }
        let mut order: Vec<StackId> = stacks().collect();
        order.sort_by_key(|&stack| labels.rank(stack));
        let read: Vec<&str> = order.iter().map(|&stack| labels.label(stack)).collect();
        assert_eq!(read, ["A.py:3 G", "a.py:1 f", "b.py:2 alloc_big", "no stack recorded"]);
    }
}
