//! The functions of a forward as a tree, as the stacks of its allocations show them.
//!
//! A stack names lines, not calls: two calls of a function in a row, from one line, look like one call that goes on. Such calls
//! are one node here; [`super::rounds`] parts them again.

use crate::frames::{CallFrames, FrameKind};
use crate::run::Run;
use foldhash::HashMap;
use oomscope_model::{AllocId, FrameId, StackId};
use std::ops::Range;

/// The index of a node in its tree.
pub(super) type NodeIx = usize;

/// The line of the root.
const NO_LINE: FrameId = FrameId(u32::MAX);

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
    /// The function that it calls; the root, which none calls, if it allocates itself.
    callee: u32,
    /// The allocations from its first to its last.
    pub(super) ids: Range<u32>,
}

impl Item {
    /// The function that it calls; `None` if it allocates itself.
    pub(super) fn callee(&self) -> Option<NodeIx> {
        let callee = self.callee as NodeIx;
        (callee != CallTree::ROOT).then_some(callee)
    }
}

/// All functions of a forward. A node comes after the one that calls it.
#[derive(Debug)]
pub(super) struct CallTree {
    pub(super) nodes: Vec<Node>,
    pub(super) items: Vec<Item>,
    /// The number of each line in its file.
    line_numbers: HashMap<FrameId, i64>,
}

impl CallTree {
    /// The root, around everything.
    pub(super) const ROOT: NodeIx = 0;

    /// Read the calls from consecutive allocations; those without a stack are left out.
    pub(super) fn of(run: &Run<'_>, frames: &CallFrames, ids: &[AllocId]) -> Self {
        let mut builder = Builder::new();
        let mut path = Vec::new();
        for &id in ids {
            let stack = run.recording.stack(id);
            if stack != StackId::EMPTY {
                path.clear();
                path.extend(frames.path(run.recording.snapshot(), stack));
                builder.add(frames, id, &path);
            }
        }
        builder.finish(run)
    }

    /// What a node does.
    pub(super) fn items_of(&self, node: NodeIx) -> &[Item] {
        &self.items[self.nodes[node].items.clone()]
    }

    /// The number of an item's line in its file.
    pub(super) fn line_number(&self, item: &Item) -> i64 {
        self.line_numbers.get(&item.line).copied().unwrap_or(0)
    }

    /// What an item does: its line, and the function that it calls.
    pub(super) fn key(&self, item: &Item) -> (FrameId, Option<u32>) {
        (item.line, item.callee().and_then(|callee| self.nodes[callee].function))
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
    items: Vec<(u32, Item)>,
    open: Vec<Open>,
}

impl Builder {
    fn new() -> Self {
        let root = Node { function: None, is_module: false, is_container: false, items: 0..0 };
        let open = vec![Open { node: CallTree::ROOT, line: NO_LINE, item: usize::MAX }];
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
                self.item(callee, id);
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
        self.item(CallTree::ROOT, id);
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
    fn item(&mut self, callee: NodeIx, id: AllocId) {
        let Some(open) = self.open.last_mut() else { return };
        let callee = callee as u32;
        let is_same = |(_, item): &(u32, Item)| item.line == open.line && (item.callee, callee) == (0, 0);
        if !self.items.get(open.item).is_some_and(is_same) {
            open.item = self.items.len();
            self.items.push((open.node as u32, Item { line: open.line, callee, ids: id.0..id.0 + 1 }));
        }
    }

    /// Bring the items of each node together, and leave out wrappers.
    fn finish(mut self, run: &Run<'_>) -> CallTree {
        // Nodes are numbers, so that they need not be compared: there may be millions of items.
        let mut next = vec![0usize; self.nodes.len()];
        for &(node, _) in &self.items {
            next[node as usize] += 1;
        }
        let mut first = 0;
        for (node, next) in self.nodes.iter_mut().zip(&mut next) {
            node.items = first..first + *next;
            (*next, first) = (first, node.items.end);
        }
        let mut order = vec![0usize; self.items.len()];
        for (at, &(node, _)) in self.items.iter().enumerate() {
            let next = &mut next[node as usize];
            order[*next] = at;
            *next += 1;
        }
        let items = order.into_iter().map(|at| self.items[at].1.clone()).collect();
        let mut tree = CallTree { nodes: self.nodes, items, line_numbers: HashMap::default() };
        tree.leave_out_wrappers();
        let number =
            |line: FrameId| if line == NO_LINE { 0 } else { run.recording.snapshot().frames.get(line).line };
        tree.line_numbers = tree.items.iter().map(|item| (item.line, number(item.line))).collect();
        tree
    }
}

impl CallTree {
    /// Leave out functions that do nothing but call one that is no module by itself, as decorators do.
    fn leave_out_wrappers(&mut self) {
        let mut behind: Vec<u32> = (0..self.nodes.len() as u32).collect();
        for node in (1..self.nodes.len()).rev() {
            let [only] = self.items_of(node) else { continue };
            if let Some(callee) = only.callee().filter(|&callee| !self.nodes[callee].is_module) {
                behind[node] = behind[callee];
            }
        }
        // New numbers, in the same order. A wrapper comes before what it calls.
        let mut number = vec![0; self.nodes.len()];
        let (mut nodes, mut items): (Vec<Node>, Vec<Item>) = (Vec::new(), Vec::new());
        for node in (0..self.nodes.len()).filter(|&node| behind[node] == node as u32) {
            number[node] = nodes.len() as u32;
            let Node { function, is_module, is_container, .. } = self.nodes[node];
            let start = items.len();
            items.extend_from_slice(self.items_of(node));
            nodes.push(Node { function, is_module, is_container, items: start..items.len() });
        }
        for item in &mut items {
            let callee = item.callee as usize;
            let effective = behind[callee] as usize;
            item.callee = number[effective];
            nodes[number[effective] as usize].is_module |= self.nodes[callee].is_module;
        }
        (self.nodes, self.items) = (nodes, items);
    }
}
