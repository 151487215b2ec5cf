//! The modules of stacks, each read once.

use super::call_path::{PathReader, Place};
use super::real::RealModules;
use super::tree::{NodeIx, Tree};
use oomscope_model::{Snapshot, StackId};

/// The places of all stacks that were asked for, and the modules in them.
pub(super) struct Places<'a> {
    snapshot: &'a Snapshot,
    reader: PathReader<'a>,
    pub(super) tree: Tree,
    by_stack: Vec<Option<Place<NodeIx>>>,
}

impl<'a> Places<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, modules: &'a RealModules<'a>) -> Self {
        let by_stack = vec![None; snapshot.stacks.len()];
        Self { snapshot, reader: PathReader::new(snapshot, modules), tree: Tree::default(), by_stack }
    }

    /// The place of a stack.
    pub(super) fn read(&mut self, stack: StackId) -> &Place<NodeIx> {
        let Self { reader, tree, by_stack, .. } = self;
        by_stack[stack.index()].get_or_insert_with(|| match reader.read(stack) {
            Place::Called(path) => Place::Called(tree.add(&path)),
            Place::Made(path) => Place::Made(tree.add(&path)),
            Place::Outside => Place::Outside,
            Place::NotKnown => Place::NotKnown,
        })
    }

    /// The first of the stacks that read like one.
    pub(super) fn first_alike(&self, stack: StackId) -> StackId {
        self.snapshot.first_alike(stack)
    }

    /// The place of a stack that was read.
    pub(super) fn known(&self, stack: StackId) -> Option<&Place<NodeIx>> {
        self.by_stack.get(stack.index()).and_then(Option::as_ref)
    }
}
