//! The label of every stack, made once, and the order of the labels.

use super::frame_names::{FrameKey, FrameNames};
use oomscope_model::{Snapshot, StackId};
use rayon::prelude::*;

/// The labels of all stacks, with their order; see [`site_label`](super::site_label).
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
    use crate::site_label;
    use oomscope_fixtures::tables::snapshot;

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
