//! Stacks as a tree, in which stacks share the nodes of their common frames.
//!
//! Nodes are in depth-first order, and the children of a node in the order of their names. So the nodes
//! below a node are one range, and sums over all of them take one pass.

use super::frame_names::{FrameKey, FrameNames};
use super::stack_totals::ClassWeight;
use foldhash::HashMap;
use oomscope_model::{Snapshot, StackId};
use oomscope_units as units;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// Number of frames of a stack that the tree has at most. Python stops at 1,000 of its own; the rest is
/// room for frames of compiled code.
const MAX_DEPTH: usize = 2_000;

/// Number of frames of all stacks together that the tree has at most. They take 256 MiB.
const MAX_FRAMES: usize = 64 << 20;

/// Number of nodes of a tree, about at most. With all that answers keep for each they take 256 MiB. Thousands of long stacks that
/// differ at the end next to the root share no node.
const MAX_NODES: usize = 2 << 20;

/// Stands for the absence of a node.
const NONE: u32 = u32::MAX;

/// A node of a [`CallTree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIx(pub u32);

impl NodeIx {
    /// The node that stands for all stacks.
    pub const ROOT: Self = Self(0);

    /// The node as an array index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The end of stacks that is next to the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Direction {
    /// The outermost frame: the frames that a node called are below it.
    #[default]
    CallersFirst,
    /// The innermost frame: the frames that called a node are below it.
    CalleesFirst,
}

/// The options by which stacks become a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TreeOptions {
    /// The end of stacks that is next to the root.
    pub direction: Direction,
    /// True if the frames of torch, the interpreter and libraries are left out. A stack that has no
    /// other frames keeps the one that names it, so that every stack has a node.
    pub folds_internal: bool,
}

/// The stacks that are too large for the tree. No program that people write has any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cut {
    /// Number of stacks whose rest is in a node for others.
    pub deep_stacks: usize,
    /// Number of stacks that are not in the tree. Their weight belongs to the root.
    pub left_out_stacks: usize,
}

/// The stacks with which a file's allocations were made, as a tree.
#[derive(Debug)]
pub struct CallTree {
    options: TreeOptions,
    /// The parent of each node; [`NONE`] for the root.
    parent: Vec<u32>,
    /// The frame of each node.
    frame: Vec<FrameKey>,
    /// The node after the last one below each node.
    end: Vec<u32>,
    /// The node at which each stack ends; [`NONE`] for stacks that are not in the tree.
    leaf: Vec<u32>,
    /// Number of stacks in each node that stands for the rest of stacks.
    others: HashMap<u32, u32>,
    cut: Cut,
}

impl CallTree {
    /// Build the tree of all stacks with which anything was allocated, on any device.
    pub fn build(snapshot: &Snapshot, names: &FrameNames, options: TreeOptions) -> Self {
        let mut paths = Paths::new([MAX_DEPTH, MAX_FRAMES, MAX_NODES]);
        for stack in allocation_stacks(snapshot) {
            paths.add(snapshot, names, options, stack);
        }
        paths.into_tree(options, names, snapshot.stacks.len())
    }

    /// Build a tree of paths of frames from the root, which are stacks by their numbers.
    pub(crate) fn of_paths(paths: &[Vec<FrameKey>], names: &FrameNames) -> Self {
        let mut all = Paths::new([MAX_DEPTH, MAX_FRAMES, MAX_NODES]);
        for (stack, path) in (0..).map(StackId).zip(paths) {
            let start = all.frames.len();
            all.frames.extend(path.iter().take(all.max_depth + 1));
            all.end_path(stack, start);
        }
        all.into_tree(TreeOptions::default(), names, paths.len())
    }

    /// The options by which stacks became this tree.
    pub fn options(&self) -> TreeOptions {
        self.options
    }

    /// Number of nodes, with the root.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// True if no stack is in the tree.
    pub fn is_empty(&self) -> bool {
        self.len() <= 1
    }

    /// Number of stacks whose rest a node stands for; `None` for a node of one frame.
    pub fn others(&self, node: NodeIx) -> Option<u32> {
        self.others.get(&node.0).copied()
    }

    /// The name of a node: that of its frame, or how many stacks go on in it.
    pub fn label<'n>(&self, names: &'n FrameNames, node: NodeIx) -> Cow<'n, str> {
        let name = names.get(self.frame(node)).label.as_str();
        match self.others(node) {
            Some(stacks) => Cow::Owned(format!("{name} of {}", units::counted(stacks as usize, "stack"))),
            None => Cow::Borrowed(name),
        }
    }

    /// The stacks that are too large for the tree.
    pub fn cut(&self) -> Cut {
        self.cut
    }

    /// The parent of a node; `None` for the root.
    pub fn parent(&self, node: NodeIx) -> Option<NodeIx> {
        Some(self.parent[node.index()]).filter(|&parent| parent != NONE).map(NodeIx)
    }

    /// The frame of a node. That of the root has no meaning.
    #[inline]
    pub fn frame(&self, node: NodeIx) -> FrameKey {
        self.frame[node.index()]
    }

    /// A node and everything below it.
    #[inline]
    pub fn subtree(&self, node: NodeIx) -> Range<u32> {
        node.0..self.end[node.index()]
    }

    /// The children of a node, in the order of their names.
    pub fn children(&self, node: NodeIx) -> impl Iterator<Item = NodeIx> + '_ {
        let Range { start, end } = self.subtree(node);
        let first = (start + 1 < end).then_some(start + 1);
        std::iter::successors(first, move |&child| Some(self.end[child as usize]).filter(|&next| next < end))
            .map(NodeIx)
    }

    /// The nodes from the root to a node, both included.
    pub fn path(&self, node: NodeIx) -> Vec<NodeIx> {
        let mut path: Vec<NodeIx> = std::iter::successors(Some(node), |&node| self.parent(node)).collect();
        path.reverse();
        path
    }

    /// The node at which a stack ends; `None` if nothing was allocated with it.
    #[inline]
    pub fn leaf_of(&self, stack: StackId) -> Option<NodeIx> {
        self.leaf.get(stack.index()).copied().filter(|&leaf| leaf != NONE).map(NodeIx)
    }

    /// The node at the end of a path of frames from the root. Frames that are not there are skipped, so
    /// that the path of a node in another tree ends at about the same place.
    pub fn find(&self, frames: impl IntoIterator<Item = FrameKey>) -> NodeIx {
        frames.into_iter().fold(NodeIx::ROOT, |node, frame| {
            self.children(node).find(|&child| self.frame(child) == frame).unwrap_or(node)
        })
    }

    /// The weight of every node with everything below it, from the weights of stacks. Weights of stacks that
    /// are not in the tree belong to the root.
    pub fn inclusive(&self, weights: impl IntoIterator<Item = (StackId, i128)>) -> Vec<i128> {
        let mut sums = vec![0i128; self.len()];
        for (stack, weight) in weights {
            let sum = &mut sums[self.leaf_of(stack).unwrap_or(NodeIx::ROOT).index()];
            *sum = sum.saturating_add(weight);
        }
        self.summed_up(sums)
    }

    /// The weight of every node with everything below it, from the weight of each node alone.
    pub(crate) fn summed_up(&self, mut sums: Vec<i128>) -> Vec<i128> {
        // Backwards, since children come after their parent.
        for node in (1..sums.len()).rev() {
            let weight = sums[node];
            // Skips the parent's memory in most steps: at any moment most of a tree is empty.
            if weight != 0 {
                let sum = &mut sums[self.parent[node] as usize];
                *sum = sum.saturating_add(weight);
            }
        }
        sums
    }

    /// The class with most weight in or below each node; `None` where nothing weighs anything. Of classes that weigh
    /// the same, it is the first.
    pub fn heaviest_classes(&self, weights: &[ClassWeight]) -> Vec<Option<u8>> {
        let classes: BTreeSet<u8> = weights.iter().map(|row| row.class).collect();
        let mut heaviest = vec![(0i128, None); self.len()];
        for class in classes {
            let of_class = weights.iter().filter(|row| row.class == class);
            let sums = self.inclusive(of_class.map(|row| (row.stack, row.weight)));
            for (best, weight) in heaviest.iter_mut().zip(sums) {
                if best.0 < weight {
                    *best = (weight, Some(class));
                }
            }
        }
        heaviest.into_iter().map(|(_, class)| class).collect()
    }

    /// The weight of all nodes with a wanted frame, with everything below them; nothing counts twice.
    /// `is_wanted` is by frame, and `inclusive` are the sums of [`Self::inclusive`].
    pub fn weight_of(&self, is_wanted: &[bool], inclusive: &[i128]) -> i128 {
        debug_assert_eq!(inclusive.len(), self.len());
        let (mut node, mut sum) = (1, 0i128);
        while node < self.len() {
            if is_wanted.get(self.frame[node].index()).copied().unwrap_or(false) {
                sum = sum.saturating_add(inclusive.get(node).copied().unwrap_or(0));
                node = self.end[node] as usize;
            } else {
                node += 1;
            }
        }
        sum
    }
}

/// The stacks of all allocations, ascending.
fn allocation_stacks(snapshot: &Snapshot) -> impl Iterator<Item = StackId> + use<> {
    let mut is_used = vec![false; snapshot.stacks.len()];
    for timeline in &snapshot.timelines {
        for id in timeline.ids() {
            is_used[timeline.stack(id).index()] = true;
        }
    }
    (0..).map(StackId).zip(is_used).filter_map(|(stack, is_used)| is_used.then_some(stack))
}

/// The stacks as paths from the root.
struct Paths {
    /// The frames of all paths, one after another.
    frames: Vec<FrameKey>,
    /// Each stack, with its path as a range of `frames`.
    stacks: Vec<(StackId, Range<usize>)>,
    /// Stacks that would make `frames` too long.
    left_out: Vec<StackId>,
    /// The longest path.
    max_depth: usize,
    /// The most frames.
    max_frames: usize,
    max_nodes: usize,
}

impl Paths {
    fn new([max_depth, max_frames, max_nodes]: [usize; 3]) -> Self {
        Self {
            frames: Vec::new(),
            stacks: Vec::new(),
            left_out: Vec::new(),
            max_depth,
            max_frames,
            max_nodes,
        }
    }

    fn add(&mut self, snapshot: &Snapshot, names: &FrameNames, options: TreeOptions, stack: StackId) {
        let start = self.frames.len();
        let innermost_first = snapshot.stacks.frames(stack).iter().map(|&frame| names.key(frame));
        let is_kept = |&key: &FrameKey| !options.folds_internal || !names.get(key).is_internal;
        let kept = innermost_first.filter(is_kept);
        // One frame more than fits shows whether a stack is too deep.
        let most = self.max_depth + 1;
        match options.direction {
            Direction::CallersFirst => self.frames.extend(kept.rev().take(most)),
            Direction::CalleesFirst => self.frames.extend(kept.take(most)),
        }
        if self.frames.len() == start {
            self.frames.push(names.site(snapshot, stack));
        }
        self.end_path(stack, start);
    }

    /// The frames from `start` on are the path of a stack.
    fn end_path(&mut self, stack: StackId, start: usize) {
        // One frame more than fits shows that the stack goes on.
        self.frames.truncate(start + self.max_depth + 1);
        if self.max_frames < self.frames.len() {
            self.frames.truncate(start);
            self.left_out.push(stack);
        } else {
            self.stacks.push((stack, start..self.frames.len()));
        }
    }

    fn into_tree(mut self, options: TreeOptions, names: &FrameNames, stacks: usize) -> CallTree {
        // Sorted paths with common frames follow one another, so that the tree is built in one pass.
        let frames = &self.frames;
        self.stacks.par_sort_unstable_by(|(a, path_a), (b, path_b)| {
            frames[path_a.clone()].cmp(&frames[path_b.clone()]).then(a.cmp(b))
        });
        let depth = self.depth();
        let mut tree = CallTree {
            options,
            parent: vec![NONE],
            frame: vec![names.no_stack()],
            end: vec![0],
            leaf: vec![NONE; stacks],
            others: HashMap::default(),
            cut: Cut { deep_stacks: 0, left_out_stacks: self.left_out.len() },
        };
        let mut open: Vec<u32> = vec![NodeIx::ROOT.0];
        let mut cut_path = Vec::with_capacity(depth + 1);
        for (stack, path) in &self.stacks {
            let path = &self.frames[path.clone()];
            if path.len() <= depth {
                tree.append(*stack, path, &mut open);
                continue;
            }
            cut_path.clear();
            cut_path.extend(&path[..depth]);
            cut_path.push(names.others());
            tree.append(*stack, &cut_path, &mut open);
            *tree.others.entry(tree.leaf[stack.index()]).or_default() += 1;
            tree.cut.deep_stacks += 1;
        }
        tree.close(&mut open, 0);
        for stack in self.left_out {
            tree.leaf[stack.index()] = NodeIx::ROOT.0;
        }
        tree
    }

    /// Number of frames of each path for which there are nodes, counted from the root: as many as fit. Paths are sorted.
    fn depth(&self) -> usize {
        let mut nodes_at = vec![0usize; self.max_depth + 2];
        let mut last: &[FrameKey] = &[];
        for (_, path) in &self.stacks {
            let path = &self.frames[path.clone()];
            let shared = last.iter().zip(path).take_while(|(a, b)| a == b).count();
            nodes_at[shared + 1..=path.len()].iter_mut().for_each(|nodes| *nodes += 1);
            last = path;
        }
        let mut nodes = 0usize;
        let fits = nodes_at[1..=self.max_depth].iter().take_while(|&&here| {
            nodes += here;
            // Each of these may have one more for the rest.
            nodes + here <= self.max_nodes
        });
        let depth = fits.count();
        if nodes_at.iter().sum::<usize>() <= self.max_nodes { self.max_depth } else { depth }
    }
}

impl CallTree {
    /// Append a path, which must not sort before the last one. `open` are the nodes of the last path.
    fn append(&mut self, stack: StackId, path: &[FrameKey], open: &mut Vec<u32>) {
        let of_last = open[1..].iter().map(|&node| self.frame[node as usize]);
        let shared = of_last.zip(path).take_while(|(last, frame)| last == *frame).count();
        self.close(open, 1 + shared);
        for &frame in &path[shared..] {
            let node = self.parent.len() as u32;
            self.parent.push(open.last().copied().unwrap_or(NodeIx::ROOT.0));
            self.frame.push(frame);
            self.end.push(node + 1);
            open.push(node);
        }
        self.leaf[stack.index()] = open.last().copied().unwrap_or(NodeIx::ROOT.0);
    }

    /// Close all open nodes but the first `keep`: no more nodes are added below them.
    fn close(&mut self, open: &mut Vec<u32>, keep: usize) {
        let end = self.parent.len() as u32;
        for node in open.drain(keep..) {
            self.end[node as usize] = end;
        }
    }
}

#[cfg(test)]
#[path = "call_tree_tests.rs"]
mod tests;
