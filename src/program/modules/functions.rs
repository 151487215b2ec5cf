//! Which lines belong to one function: files often have many of one name, such as `forward`.

use super::call_tree::CallTree;
use crate::model::FrameId;
use foldhash::HashMap;
use std::ops::Range;

/// Lines that belong to one function, each with a lower one, as far as there is one.
#[derive(Debug, Default)]
pub(super) struct Functions(HashMap<FrameId, FrameId>);

impl Functions {
    /// Lines that one round goes through are of one function.
    pub(super) fn of(tree: &CallTree, rounds: &[Vec<Range<usize>>]) -> Self {
        let mut out = Self::default();
        for round in rounds.iter().flatten() {
            for pair in tree.items[round.clone()].windows(2) {
                out.join(pair[0].line, pair[1].line);
            }
        }
        out
    }

    /// A line that stands for the function of some items of one node.
    pub(super) fn of_items(&self, tree: &CallTree, items: &Range<usize>) -> FrameId {
        tree.items.get(items.start).map_or(FrameId(u32::MAX), |first| self.root(first.line))
    }

    fn root(&self, mut line: FrameId) -> FrameId {
        while let Some(&next) = self.0.get(&line) {
            line = next;
        }
        line
    }

    fn join(&mut self, a: FrameId, b: FrameId) {
        let (a, b) = (self.root(a), self.root(b));
        // The lowest number is the root, so that chains cannot be circles.
        if a != b {
            self.0.insert(a.max(b), a.min(b));
        }
    }
}
