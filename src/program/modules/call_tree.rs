//! The functions of a forward as a tree, as the stacks of its allocations show them.
//!
//! A stack names lines, not calls: two calls of a function in a row, from one line, look like one call that goes on. Such calls
//! are one node here; [`super::rounds`] parts them again.

use crate::model::{AllocId, FrameId, StackId};
use crate::program::frames::{CallFrames, FrameKind};
use crate::program::run::Run;
use std::ops::Range;

/// The index of a node in its tree.
pub(super) type NodeIx = usize;

/// Calls of one function that follow each other.
#[derive(Debug)]
pub(super) struct Node {
    /// A number for the file and the name of the function; `None` for the root, which is around all others.
    pub(super) function: Option<u32>,
    /// Whether it is the code of a module: `Module.__call__` called it.
    pub(super) is_module: bool,
    /// Whether it is the code of a container, which does nothing but call modules.
    pub(super) is_container: bool,
    /// What it does, in order: a range of the tree's items.
    pub(super) items: Range<usize>,
}

/// One thing that a function does: it calls another, or allocates.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// The line of the function.
    pub(super) line: FrameId,
    /// The function that it calls; `None` if it allocates itself.
    pub(super) callee: Option<NodeIx>,
    /// The allocations from its first to its last.
    pub(super) ids: Range<u32>,
}

/// All functions of a forward. A node comes after the one that calls it.
#[derive(Debug)]
pub(super) struct CallTree {
    pub(super) nodes: Vec<Node>,
    pub(super) items: Vec<Item>,
}

impl CallTree {
    /// The root, around everything.
    pub(super) const ROOT: NodeIx = 0;

    /// Read the calls from consecutive allocations; those without a stack are left out.
    pub(super) fn of(run: &Run<'_>, frames: &CallFrames, ids: &[AllocId]) -> Self {
        let mut builder = Builder::new();
        let mut path = Vec::new();
        for &id in ids {
            let stack = run.timeline.stack(id);
            if stack != StackId::EMPTY {
                path.clear();
                path.extend(frames.path(run.snapshot, stack));
                builder.add(frames, id, &path);
            }
        }
        builder.finish()
    }

    /// What a node does.
    pub(super) fn items_of(&self, node: NodeIx) -> &[Item] {
        &self.items[self.nodes[node].items.clone()]
    }

    /// The only thing that a function does, if that is a call: a decorator or a wrapper does no more.
    pub(super) fn wrapped(&self, node: NodeIx) -> Option<NodeIx> {
        match self.items_of(node) {
            [only] => only.callee,
            _ => None,
        }
    }

    /// The function that a node leads to through those that do nothing but call.
    pub(super) fn behind_wrappers(&self, mut node: NodeIx) -> NodeIx {
        while let Some(wrapped) = self.wrapped(node) {
            node = wrapped;
        }
        node
    }

    /// What an item does: its line, and the function that it calls.
    pub(super) fn key(&self, item: &Item) -> (FrameId, Option<u32>) {
        (item.line, item.callee.and_then(|callee| self.nodes[callee].function))
    }

    /// The allocations of consecutive items.
    pub(super) fn ids(&self, items: &Range<usize>) -> Range<u32> {
        match (self.items.get(items.start), items.end.checked_sub(1).and_then(|last| self.items.get(last))) {
            (Some(first), Some(last)) => first.ids.start..last.ids.end,
            _ => 0..0,
        }
    }
}

/// A function that goes on.
struct Open {
    node: NodeIx,
    line: FrameId,
    /// Its latest item.
    item: usize,
}

struct Builder {
    nodes: Vec<Node>,
    /// Items in the order in which they begin, each with its node.
    items: Vec<(NodeIx, Item)>,
    open: Vec<Open>,
}

impl Builder {
    fn new() -> Self {
        let root = Node { function: None, is_module: false, is_container: false, items: 0..0 };
        let open = vec![Open { node: CallTree::ROOT, line: FrameId(u32::MAX), item: usize::MAX }];
        Self { nodes: vec![root], items: Vec::new(), open }
    }

    /// Add an allocation, given the lines of its Python functions from the outermost on. Those of `Module.__call__` are in
    /// between, and are no functions of the tree.
    fn add(&mut self, frames: &CallFrames, id: AllocId, path: &[FrameId]) {
        let mut depth = 0;
        let mut is_called = false;
        let mut goes_on = true;
        for &line in path {
            let frame = frames.get(line);
            if frame.kind == FrameKind::Call {
                is_called = true;
                continue;
            }
            depth += 1;
            goes_on = goes_on && self.goes_on(depth, frame.function);
            if !goes_on {
                self.open.truncate(depth);
                let is_container = frame.kind == FrameKind::Container;
                let function = Some(frame.function);
                let node = Node { function, is_module: is_called, is_container, items: 0..0 };
                self.nodes.push(node);
                let callee = self.nodes.len() - 1;
                self.item(Some(callee), id);
                self.open.push(Open { node: callee, line, item: usize::MAX });
            } else if self.open[depth].line != line {
                // From another line it calls anew.
                self.open.truncate(depth + 1);
                self.open[depth].line = line;
                goes_on = false;
            }
            is_called = false;
        }
        self.open.truncate(depth + 1);
        self.item(None, id);
        for open in &self.open {
            if let Some((_, item)) = self.items.get_mut(open.item) {
                item.ids.end = id.0 + 1;
            }
        }
    }

    /// Whether the function at some depth is the one that is open there.
    fn goes_on(&self, depth: usize, function: u32) -> bool {
        self.open.get(depth).is_some_and(|open| self.nodes[open.node].function == Some(function))
    }

    /// Let the innermost open function do something.
    fn item(&mut self, callee: Option<NodeIx>, id: AllocId) {
        let Some(open) = self.open.last_mut() else { return };
        let is_same =
            |(_, item): &&(NodeIx, Item)| item.line == open.line && item.callee.is_none() && callee.is_none();
        if self.items.get(open.item).filter(is_same).is_none() {
            open.item = self.items.len();
            self.items.push((open.node, Item { line: open.line, callee, ids: id.0..id.0 + 1 }));
        }
    }

    /// Bring the items of each node together.
    fn finish(mut self) -> CallTree {
        self.items.sort_by_key(|&(node, _)| node);
        let mut first = 0;
        for of_node in self.items.chunk_by(|(a, _), (b, _)| a == b) {
            self.nodes[of_node[0].0].items = first..first + of_node.len();
            first += of_node.len();
        }
        CallTree { nodes: self.nodes, items: self.items.into_iter().map(|(_, item)| item).collect() }
    }
}
