//! Which lines belong to one function: files often have many of one name, such as `forward`.

use super::call_tree::{CallTree, Item, NodeIx};
use foldhash::HashMap;
use oomscope_model::FrameId;
use std::ops::Range;

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Function {
    /// A line that stands for it, or for what a container calls first.
    line: Option<FrameId>,
    is_container: bool,
}

/// Lines that belong to one function, each with a lower one, as far as there is one.
#[derive(Debug, Default)]
pub(super) struct Functions(HashMap<FrameId, FrameId>);

impl Functions {
    /// Lines that one round goes through are of one function.
    pub(super) fn find<'a>(tree: &CallTree, rounds: impl Iterator<Item = &'a Range<usize>>) -> Self {
        let mut out = Self::default();
        for round in rounds {
            for pair in tree.items[round.clone()].windows(2) {
                out.join(pair[0].line, pair[1].line);
            }
        }
        out
    }

    /// The function of some items of a node. All containers have one; what they call first tells them apart.
    pub(super) fn of(&self, tree: &CallTree, mut node: NodeIx, items: &Range<usize>) -> Function {
        let is_container = tree.nodes[node].is_container;
        let mut first = items.start;
        loop {
            let item = tree.items.get(first);
            match item.and_then(Item::callee).filter(|_| tree.nodes[node].is_container) {
                Some(callee) => (node, first) = (callee, tree.nodes[callee].items.start),
                None => return Function { line: item.map(|item| self.root(item.line)), is_container },
            }
        }
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
