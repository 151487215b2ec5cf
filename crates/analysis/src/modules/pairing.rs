//! The module of memory whose stack shows none, by its size: gradients and state are as large as their parameters.

use super::tree::{NodeIx, Tree};
use crate::Category;
use crate::attribution::thresholds::SCALAR_BYTES;
use foldhash::HashMap;
use oomscope_model::Bytes;
use std::cmp::Ordering;

/// How many states of its own size an optimizer keeps for one parameter at most: two averages, the largest of one of them
/// (`amsgrad`), and a copy of the parameter.
const MAX_STATES: usize = 4;

/// Allocations of one size and category.
#[derive(Debug, Clone, Copy, Default)]
struct OfSize {
    known: usize,
    not_known: usize,
    /// The smallest module that holds all the known ones; `None` if none does.
    module: Option<NodeIx>,
}

/// Sizes of parameters, gradients and state, and the modules that have them.
pub(super) struct Pairing<'a> {
    by_size: HashMap<(Category, Bytes), OfSize>,
    /// By node, the module that it is shown below.
    parents: &'a [Option<NodeIx>],
    tree: &'a Tree,
}

impl<'a> Pairing<'a> {
    pub(super) fn new(tree: &'a Tree, parents: &'a [Option<NodeIx>]) -> Self {
        Self { by_size: HashMap::default(), parents, tree }
    }

    /// Note an allocation, and its module if that is known.
    pub(super) fn note(&mut self, category: Category, size: Bytes, module: Option<NodeIx>) {
        let (tree, parents) = (self.tree, self.parents);
        let of_size = self.by_size.entry((category, size)).or_default();
        let Some(module) = module else {
            of_size.not_known += 1;
            return;
        };
        of_size.module = match of_size.known {
            0 => Some(module),
            _ => of_size.module.and_then(|known| common(tree, parents, known, module)),
        };
        of_size.known += 1;
    }

    /// The module of an allocation that no stack shows: the smallest that holds all parameters of its size, or else all
    /// gradients of it, if the modules of all of these are known and there are not fewer of them.
    pub(super) fn module_of(&self, category: Category, size: Bytes) -> Option<NodeIx> {
        if size <= SCALAR_BYTES {
            return None;
        }
        let of = |category| self.by_size.get(&(category, size)).copied().unwrap_or_default();
        let sources =
            [Category::Parameter, Category::Gradient].into_iter().filter(|&source| source != category);
        let source = sources.map(of).find(|source| source.known != 0)?;
        let wanted = of(category);
        let per_parameter = if category == Category::OptimizerState { MAX_STATES } else { 1 };
        let is_clear = source.not_known == 0
            && wanted.known.saturating_add(wanted.not_known) <= source.known.saturating_mul(per_parameter);
        source.module.filter(|_| is_clear)
    }
}

/// The smallest module that holds two others, or that is one of them and holds the other.
fn common(tree: &Tree, parents: &[Option<NodeIx>], a: NodeIx, b: NodeIx) -> Option<NodeIx> {
    let parent = |node: NodeIx| parents.get(node.index()).copied().flatten();
    let depth = |node: NodeIx| tree.nodes.get(node.index()).map_or(0, |node| node.depth);
    let (mut a, mut b) = (a, b);
    while a != b {
        // What stands for a module in the tree is as deep as it is.
        match depth(a).cmp(&depth(b)) {
            Ordering::Less => b = parent(b)?,
            Ordering::Greater => a = parent(a)?,
            Ordering::Equal => (a, b) = (parent(a)?, parent(b)?),
        }
    }
    Some(a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::call_path::{Flow, Step, StepKind};
    use oomscope_model::StrId;

    const NET: NodeIx = NodeIx(0);
    const HEAD: NodeIx = NodeIx(1);
    const TAIL: NodeIx = NodeIx(2);
    const OTHER: NodeIx = NodeIx(3);
    const PARENTS: [Option<NodeIx>; 4] = [None, Some(NET), Some(NET), None];

    fn tree() -> Tree {
        let step = |line| Step {
            kind: StepKind::Call,
            file: StrId(0),
            function: StrId(0),
            from: Some((StrId(0), line)),
            flow: Flow::Any,
            is_recomputed: false,
            forward: None,
            class: None,
        };
        let mut tree = Tree::default();
        for path in [&[step(0)][..], &[step(0), step(1)], &[step(0), step(2)], &[step(3)]] {
            tree.add(path);
        }
        tree
    }

    /// The module of gradients and of state of one size, where parameters and gradients are noted with their modules.
    fn found(noted: &[(Category, Option<NodeIx>)]) -> [Option<NodeIx>; 2] {
        let tree = tree();
        let mut pairing = Pairing::new(&tree, &PARENTS);
        for &(category, module) in noted {
            pairing.note(category, Bytes(64), module);
        }
        [Category::Gradient, Category::OptimizerState].map(|category| pairing.module_of(category, Bytes(64)))
    }

    #[test]
    fn a_size_belongs_to_the_smallest_module_that_has_it_all() {
        use Category::{Gradient, OptimizerState, Parameter};
        let gradient = (Gradient, None);
        assert_eq!(found(&[(Parameter, Some(HEAD)), gradient]), [Some(HEAD); 2]);
        assert_eq!(found(&[(Parameter, Some(HEAD)), (Parameter, Some(TAIL)), gradient]), [Some(NET); 2]);
        assert_eq!(found(&[(Parameter, Some(HEAD)), (Parameter, Some(NET)), gradient]), [Some(NET); 2]);
        assert_eq!(found(&[(Parameter, Some(HEAD)), (Parameter, Some(OTHER)), gradient]), [None; 2]);
        // Another parameter of this size may be anywhere.
        assert_eq!(found(&[(Parameter, Some(HEAD)), (Parameter, None), gradient]), [None; 2]);
        // There are more of them than parameters.
        assert_eq!(found(&[(Parameter, Some(HEAD)), gradient, gradient]), [None, Some(HEAD)]);
        let states = [(OptimizerState, None); 5];
        assert_eq!(found(&[&[(Parameter, Some(HEAD))], &states[..]].concat())[1], None);
        assert_eq!(found(&[gradient]), [None; 2]);
    }

    #[test]
    fn gradients_tell_where_parameters_do_not() {
        let tree = tree();
        let mut pairing = Pairing::new(&tree, &PARENTS);
        pairing.note(Category::Gradient, Bytes(64), Some(TAIL));
        pairing.note(Category::Parameter, Bytes(64), None);
        assert_eq!(pairing.module_of(Category::Parameter, Bytes(64)), Some(TAIL));
        assert_eq!(pairing.module_of(Category::Parameter, Bytes(65)), None);
    }
}
