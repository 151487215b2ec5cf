//! Modules as a tree: each is below the one that calls or makes it.

use super::call_path::{Step, StepKind};
use crate::{named_module, printable};
use foldhash::HashMap;
use oomscope_model::Snapshot;
use oomscope_units as units;
use std::collections::BTreeMap;

/// A module in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NodeIx(pub(super) u32);

impl NodeIx {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A module and its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) parent: Option<NodeIx>,
    pub(super) step: Step,
    /// How many modules are around it.
    pub(super) depth: usize,
}

/// All modules. A parent comes before its children.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    known: HashMap<(Option<NodeIx>, Step), NodeIx>,
}

impl Tree {
    /// All modules, parents before their children.
    pub(super) fn ids(&self) -> impl Iterator<Item = NodeIx> + use<> {
        (0..self.nodes.len() as u32).map(NodeIx)
    }

    /// A module and those around it, outermost first.
    pub(super) fn path_to(&self, node: NodeIx) -> Vec<NodeIx> {
        let parent = |node: &NodeIx| self.nodes[node.index()].parent;
        let mut out: Vec<NodeIx> = std::iter::successors(Some(node), parent).collect();
        out.reverse();
        out
    }

    /// The nodes of a path, outermost first; new ones are added.
    pub(super) fn add(&mut self, path: &[Step]) -> Vec<NodeIx> {
        let mut parent = None;
        let mut nodes = Vec::with_capacity(path.len());
        for (depth, &step) in path.iter().enumerate() {
            let next = NodeIx(self.nodes.len() as u32);
            let node = *self.known.entry((parent, step)).or_insert(next);
            if node == next {
                self.nodes.push(Node { parent, step, depth });
            }
            nodes.push(node);
            parent = Some(node);
        }
        nodes
    }

    /// Merge what makes a module with what calls it, where both are the only one of their class, or of their file, below the
    /// same module.
    pub(super) fn merge(&self, snapshot: &Snapshot) -> Merged {
        let mut shown: Vec<NodeIx> = self.ids().collect();
        let mut parents = vec![None; self.nodes.len()];
        let mut by_depth: Vec<Vec<NodeIx>> = Vec::new();
        for (node, at) in self.nodes.iter().zip(0..) {
            by_depth.resize(by_depth.len().max(node.depth + 1), Vec::new());
            by_depth[node.depth].push(NodeIx(at));
        }
        // Parents come first, so that what stands for them is known. All of one depth are counted before any is matched.
        for level in by_depth {
            let mut candidates: BTreeMap<NodePlace, [Vec<NodeIx>; 2]> = BTreeMap::new();
            for node in level {
                let Node { parent, step, .. } = self.nodes[node.index()];
                let parent = parent.map(|parent| shown[parent.index()]);
                parents[node.index()] = parent;
                if let StepKind::Real(_) = step.kind {
                    continue;
                }
                let same = candidates.entry((parent, class_key(snapshot, &step))).or_default();
                same[usize::from(step.kind == StepKind::Make)].push(node);
            }
            for [called, made] in candidates.values() {
                if let ([called], [made]) = (called.as_slice(), made.as_slice()) {
                    shown[made.index()] = *called;
                }
            }
        }
        Merged { shown, parents }
    }
}

/// A place for modules: below one of them, with a class or file.
type NodePlace = (Option<NodeIx>, String);

/// Modules with what makes them.
pub(super) struct Merged {
    /// For each node, the one to show in its place.
    pub(super) shown: Vec<NodeIx>,
    /// For each node, the one that it is shown below.
    pub(super) parents: Vec<Option<NodeIx>>,
}

/// The class of a function that was recorded with it: `Block` of `Block.forward`.
pub(super) fn class_of(function: &str) -> Option<&str> {
    let (class, _) = function.rsplit_once('.')?;
    class.rsplit('.').next().filter(|class| !class.is_empty() && !class.starts_with('<'))
}

/// What the constructor and the `forward` of a module have in common.
fn class_key(snapshot: &Snapshot, step: &Step) -> String {
    let file = snapshot.strings.path(step.file);
    let function = snapshot.strings.name(step.function);
    format!("{file}:{}", class_of(&function).unwrap_or_default())
}

/// The name of a module: its class, or the file and the function where that was not recorded; or what metadata names it.
pub(super) fn name_of(snapshot: &Snapshot, step: &Step) -> String {
    if let Some(class) = step.class.and_then(|at| snapshot.census.classes().get(at.0 as usize)) {
        return units::printable(snapshot.census.text(class.name));
    }
    let function = printable(snapshot, step.function);
    if step.kind == StepKind::Named {
        return named_module(&function).unwrap_or_default().to_owned();
    }
    if let Some(class) = class_of(&function) {
        return class.to_owned();
    }
    let file = printable(snapshot, step.file);
    format!("{} {function}", units::basename(&file))
}

/// The line that calls or makes a module: `model.py:113`.
pub(super) fn from_of(snapshot: &Snapshot, step: &Step) -> Option<String> {
    let (file, line) = step.from?;
    let file = printable(snapshot, file);
    Some(format!("{}:{line}", units::basename(&file)))
}
