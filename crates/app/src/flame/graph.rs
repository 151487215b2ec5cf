//! A tree of stacks with its look, and what its frames mean.

use crate::pointed::Thing;
use eframe::egui;
use oomscope_analysis::{CallTree, FrameKey, FrameNames, NodeIx};
use oomscope_draw::{FlameRect, Rgb};
use oomscope_model::StackId;
use tr::tr;

/// A tree of stacks, and how it is shown.
pub(crate) struct Graph<'a> {
    pub(crate) tree: &'a CallTree,
    pub(crate) names: &'a FrameNames,
    /// The weight of every node with everything below it: its width.
    pub(crate) weights: &'a [i128],
    /// The node that fills the width.
    pub(crate) zoom: NodeIx,
    /// The label of the root.
    pub(crate) root_label: &'a str,
    pub(crate) color: &'a dyn Fn(NodeIx) -> Rgb,
    /// The figure of a node with a weight.
    pub(crate) figure: &'a dyn Fn(NodeIx, i128) -> String,
    pub(crate) selected: Option<NodeIx>,
    /// Nodes that are outlined besides, in ascending order.
    pub(crate) outlined: &'a [NodeIx],
    /// True for the frames that a search found, by key.
    pub(crate) found: Option<&'a [bool]>,
}

/// What the frames of a graph mean.
pub(crate) trait Content {
    /// The stack that a click on a frame without others below it selects.
    fn stack(&self, node: NodeIx) -> Option<StackId>;

    /// What the menu of a node is about.
    fn thing(&self, node: NodeIx) -> Option<Thing>;

    /// Explain the rectangle under the pointer.
    fn explain(&self, ui: &mut egui::Ui, under: &FlameRect);

    /// Say why there is nothing to show.
    fn empty(&self, ui: &mut egui::Ui);
}

/// The effect of a click on a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Click {
    Zoom(NodeIx),
    Select(StackId),
}

impl Graph<'_> {
    /// The frames from the root to a node.
    pub(crate) fn path(&self, node: NodeIx) -> Vec<FrameKey> {
        self.tree.path(node).iter().skip(1).map(|&node| self.tree.frame(node)).collect()
    }

    /// The heaviest frame below the one that fills the width.
    pub(super) fn heaviest_child(&self) -> Option<NodeIx> {
        self.tree.children(self.zoom).max_by_key(|child| self.weights.get(child.index()).copied())
    }

    /// The frame that fills the width, the heaviest below it, and the heaviest of what is outlined, in words.
    pub(super) fn words(&self) -> String {
        let text = |node: NodeIx| {
            let weight = self.weights.get(node.index()).copied().unwrap_or(0);
            format!("{} {}", self.names.get(self.tree.frame(node)).label, (self.figure)(node, weight))
        };
        let whole = if self.zoom == NodeIx::ROOT { self.root_label.to_owned() } else { text(self.zoom) };
        let most = self.heaviest_child().map(|child| tr!("most in {}", text(child)));
        let weight = |node: &&NodeIx| self.weights.get(node.index()).copied();
        let outlined = self.outlined.iter().max_by_key(weight).map(|&node| tr!("marked: {}", text(node)));
        [Some(whole), most, outlined].into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}
