//! Stacks of code that was not recorded: what a program would do next.

use super::facts_by_stack::FactsByStack;
use super::stack_facts::{CodePart, StackFacts};
use super::stack_traits::StackTrait;
use oomscope_model::{Snapshot, StackId};

/// Stacks of code that no event of a file shows. Their ids are behind those of the file, and they have no frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnseenStacks {
    /// The model that is called, as by the stack that it goes on from.
    pub forward: StackId,
    /// The backward.
    pub backward: StackId,
    /// An optimizer that sets up its state.
    pub state: StackId,
    /// An optimizer that steps.
    pub step: StackId,
}

impl UnseenStacks {
    /// Those behind the stacks of a file.
    pub fn behind(snapshot: &Snapshot) -> Self {
        let id = |behind: u32| StackId(snapshot.stacks.len() as u32 + behind);
        Self { forward: id(0), backward: id(1), state: id(2), step: id(3) }
    }
}

impl FactsByStack {
    /// The same facts, and those about unseen stacks that go on from a stack.
    pub(super) fn with_unseen(&self, from: StackId) -> Self {
        let of_part = |part| StackFacts { part, ..StackFacts::default() };
        let within_step = |part| {
            let mut facts = of_part(part);
            facts.traits.add(StackTrait::WithinStep);
            facts
        };
        let mut out = self.clone();
        out.by_stack.extend([
            self.get(from),
            of_part(CodePart::Backward),
            within_step(CodePart::State),
            within_step(CodePart::Foreach),
        ]);
        out
    }
}
