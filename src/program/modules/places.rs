//! Where functions run: in the model, around it, or within one of its modules.

use super::call_tree::CallTree;

/// Where a function runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Outside of any module.
    Outside,
    /// It is the outermost module: the model, or all of a program that has no modules.
    Model,
    /// A module is around it.
    Within,
}

/// Where each function of a tree runs.
pub(super) fn places(tree: &CallTree) -> Vec<Place> {
    let has_modules = tree.nodes.iter().any(|node| node.is_module);
    let mut out = vec![if has_modules { Place::Outside } else { Place::Model }; tree.nodes.len()];
    // A node comes after the one that calls it.
    for node in (0..out.len()).filter(|_| has_modules) {
        for callee in tree.items_of(node).iter().filter_map(|item| item.callee()) {
            out[callee] = match (out[node], tree.nodes[callee].is_module) {
                (Place::Model | Place::Within, _) => Place::Within,
                (Place::Outside, true) => Place::Model,
                (Place::Outside, false) => Place::Outside,
            };
        }
    }
    out
}
