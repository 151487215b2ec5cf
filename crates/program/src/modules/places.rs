//! Where functions run: in the model, around it, or within one of its modules.

use super::call_tree::CallTree;

/// Where a function runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nesting {
    /// Outside of any module.
    Outside,
    /// It is the outermost module: the model, or all of a program that has no modules.
    Model,
    /// A module is around it.
    Within,
}

/// Where each function of a tree runs.
pub(super) fn places(tree: &CallTree) -> Vec<Nesting> {
    let has_modules = tree.nodes.iter().any(|node| node.is_module);
    let mut out = vec![if has_modules { Nesting::Outside } else { Nesting::Model }; tree.nodes.len()];
    // A node comes after the one that calls it.
    for node in (0..out.len()).filter(|_| has_modules) {
        for callee in tree.items_of(node).iter().filter_map(|item| item.callee()) {
            out[callee] = match (out[node], tree.nodes[callee].is_module) {
                (Nesting::Model | Nesting::Within, _) => Nesting::Within,
                (Nesting::Outside, true) => Nesting::Model,
                (Nesting::Outside, false) => Nesting::Outside,
            };
        }
    }
    out
}
