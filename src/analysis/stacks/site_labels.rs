//! The label of every stack, made once, and the order of the labels.

use super::site_label;
use crate::model::{Snapshot, StackId};
use rayon::prelude::*;

/// The labels of all stacks, with their order; see [`site_label`].
#[derive(Debug, Default)]
pub struct SiteLabels {
    /// The different labels in alphabetical order; that of the empty stack comes last.
    labels: Vec<String>,
    /// Index into `labels`, by stack.
    ranks: Vec<u32>,
}

impl SiteLabels {
    /// The labels of a file. The time grows with the number of frames in its stacks.
    pub fn new(snapshot: &Snapshot) -> Self {
        let stacks = (0..snapshot.stacks.len() as u32).into_par_iter();
        let mut labelled: Vec<(bool, String, u32)> = stacks
            .map(|stack| (stack == StackId::EMPTY.0, site_label(snapshot, StackId(stack)), stack))
            .collect();
        // `false` sorts before `true`: the label of the empty stack comes last.
        labelled.par_sort_unstable();
        let mut out = Self { labels: Vec::new(), ranks: vec![0; labelled.len()] };
        for (is_empty, label, stack) in labelled {
            if is_empty || out.labels.last() != Some(&label) {
                out.labels.push(label);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::table_fixture::snapshot;

    #[test]
    fn labels_are_those_of_their_stacks_and_ranks_follow_the_alphabet() {
        let snapshot = snapshot(&[]);
        let labels = SiteLabels::new(&snapshot);
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
