//! The colours of a call tree's nodes: those that the timeline gives to most of their memory.

use super::coloring::{ColorClass, Coloring};
use super::palette::{Rgb, contrast};
use oomscope_analysis::{CallTree, ClassWeight, NodeIx};

/// The colour of every node of a call tree.
///
/// A node has the colour of the class that most of its weight has, such as its largest category. So a flame graph
/// has the colours of the timeline beside it, by whatever property they are chosen.
#[derive(Debug, Clone)]
pub struct NodeColors {
    by_node: Vec<Rgb>,
}

impl NodeColors {
    /// The colours of a tree for weights by the classes of a [`Coloring`].
    pub fn new(tree: &CallTree, weights: &[ClassWeight], coloring: &Coloring) -> Self {
        let color = |class: Option<u8>| {
            class.map_or_else(|| coloring.free(), |class| coloring.class_color(ColorClass(class)))
        };
        Self { by_node: tree.heaviest_classes(weights).into_iter().map(color).collect() }
    }

    /// The colour of a node.
    #[inline]
    pub fn get(&self, node: NodeIx) -> Rgb {
        self.by_node[node.index()]
    }

    /// The colour of a node below a black label: as much lighter as the label needs to be read.
    pub fn below_black(&self, node: NodeIx) -> Rgb {
        /// Least contrast of text by WCAG AA.
        const LEAST: f32 = 4.5;
        let steps = (0..=10).map(|step| self.get(node).mix(Rgb(255, 255, 255), step as f32 * 0.1));
        steps.into_iter().find(|&color| LEAST <= contrast(Rgb(0, 0, 0), color)).unwrap_or(Rgb(255, 255, 255))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BandColors, ColorBy, Palette};
    use oomscope_analysis::{FrameNames, TreeOptions};
    use oomscope_fixtures::stacks::allocated_with;
    use oomscope_fixtures::timelines as fixture;
    use oomscope_model::StackId;
    use std::sync::Arc;

    #[test]
    fn a_node_has_the_colour_of_most_of_its_weight() {
        let snapshot = allocated_with(&[
            &["model.py:30 attention", "train.py:5 main"],
            &["model.py:31 mlp", "train.py:5 main"],
        ]);
        let names = FrameNames::new(&snapshot);
        let tree = CallTree::build(&snapshot, &names, TreeOptions::default());
        let timeline = fixture::timeline(&[]);
        let stacks = Arc::new(BandColors::new(&snapshot, &Palette::DARK));
        let coloring = Coloring::new(ColorBy::Size, &timeline, stacks, &Palette::DARK);
        let row = |stack, class, weight| ClassWeight { stack: StackId(stack), class, weight };
        // Together, the smaller parts of both stacks weigh more than the largest part of one.
        let weights = [row(1, 0, 60), row(1, 2, 50), row(2, 1, 55), row(2, 2, 45)];
        let colors = NodeColors::new(&tree, &weights, &coloring);
        let class = |class| coloring.class_color(ColorClass(class));
        let leaf = |stack| tree.leaf_of(StackId(stack)).expect("the stack is in the tree");
        assert_eq!(colors.get(leaf(1)), class(0));
        assert_eq!(colors.get(leaf(2)), class(1));
        let main = tree.parent(leaf(1)).expect("there is a caller");
        assert_eq!(colors.get(main), class(2));
        assert_eq!(tree.heaviest_classes(&[row(1, 3, 1), row(1, 2, 1)])[leaf(1).index()], Some(2));
        assert_eq!(NodeColors::new(&tree, &[], &coloring).get(main), coloring.free());
        for node in [leaf(1), leaf(2), main] {
            assert!(4.5 <= contrast(Rgb(0, 0, 0), colors.below_black(node)));
        }
    }
}
