//! The facts about every stack of a file; each stack is read once.

use super::frame_facts::FactsByFrame;
use super::own_models::OwnModels;
use super::stack_facts::{CodePart, StackFacts};
use super::stack_reader::read_stack;
use super::stack_traits::StackTrait;
use crate::attribution::knowledge::{Optimizer, Role};
use oomscope_model::{Snapshot, StackId};
use rayon::prelude::*;

/// The facts about all stacks of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct FactsByStack {
    pub(super) by_stack: Vec<StackFacts>,
    /// All frames are of compiled code, which says little of what it is for.
    pub(crate) is_compiled: bool,
    /// The optimizers that steps run through; empty if no step allocates.
    pub(crate) optimizers: Vec<Optimizer>,
    /// `DistributedDataParallel` is at work.
    pub(crate) uses_ddp: bool,
}

impl FactsByStack {
    /// Read every frame and stack of a snapshot.
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        let frames = FactsByFrame::of(snapshot);
        let has_roots = frames.has_any(&[Role::Root, Role::Start]);
        let read = |models: &OwnModels| -> Vec<StackFacts> {
            let ids = (0..snapshot.stacks.len() as u32).into_par_iter().map(StackId);
            ids.map(|id| read_stack(&frames, has_roots, models, id, snapshot.stacks.frames(id))).collect()
        };
        // Which functions of the program's own are models shows in what the stacks are without them.
        let without_models = read(&OwnModels::default());
        let models = OwnModels::of(snapshot, &frames, &without_models);
        let by_stack = if models.is_empty() { without_models } else { read(&models) };
        let mut optimizers = frames.optimizers();
        let has_own_optimizer = by_stack.iter().any(|stack| stack.has(StackTrait::InOwnOptimizer));
        if has_own_optimizer && !optimizers.contains(&Optimizer::StatesOfOwnSize) {
            optimizers.push(Optimizer::StatesOfOwnSize);
        }
        let compiled = [Role::Compiled, Role::Engine, Role::Workspace, Role::Start, Role::Comm];
        let is_compiled = frames.have_only(&compiled);
        Self { by_stack, is_compiled, optimizers, uses_ddp: frames.use_ddp() }
    }

    /// Whether stacks show modules or optimizers of torch, or the autograd engine.
    pub(crate) fn show_torch(&self) -> bool {
        let parts = [CodePart::Load, CodePart::Backward, CodePart::State, CodePart::Foreach, CodePart::Step];
        self.call_modules() || self.by_stack.iter().any(|stack| parts.contains(&stack.part))
    }

    /// Whether modules are called, rather than functions of the program's own that work as a model.
    pub(crate) fn call_modules(&self) -> bool {
        self.by_stack.iter().any(|stack| stack.part == CodePart::Call && !stack.has(StackTrait::InOwnModel))
    }

    /// Whether modules make parameters.
    pub(crate) fn have_modules(&self) -> bool {
        self.by_stack.iter().any(|stack| stack.part == CodePart::Load)
    }

    /// Whether stacks show an optimizer: its step, its state, or what is done with gradients before it. Stacks of compiled
    /// code do not show that there is none.
    pub(crate) fn show_optimizer(&self) -> bool {
        let parts =
            [CodePart::State, CodePart::Foreach, CodePart::Step, CodePart::ZeroGrad, CodePart::BetweenSteps];
        self.is_compiled || self.by_stack.iter().any(|stack| parts.contains(&stack.part))
    }

    /// The facts about a stack.
    #[inline]
    pub(crate) fn get(&self, stack: StackId) -> StackFacts {
        self.by_stack.get(stack.index()).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::programs::Program;

    const CUT: &[&str] = &["/home/me/model.py attention", "/home/me/model.py block"];
    const HOOK: &[&str] = &["/home/me/model.py scale"];
    const ENGINE: &[&str] = &["torch/nn/functional.py silu"];

    /// The parts of two cut stacks and one of the engine, in a file that has another stack as well.
    fn parts(other: &[&str]) -> [CodePart; 3] {
        let mut program = Program::default();
        program.alloc(512, other);
        let ids = [CUT, HOOK, ENGINE].map(|stack| {
            program.alloc(512, stack);
            program.stack(stack)
        });
        let facts = FactsByStack::of(program.finish().snapshot());
        ids.map(|id| facts.get(id).part)
    }

    #[test]
    fn own_code_without_a_root_is_the_program_where_no_stack_has_one() {
        assert_eq!(parts(CUT), [CodePart::Main, CodePart::Main, CodePart::Backward]);
    }

    #[test]
    fn own_code_without_a_root_is_a_hook_where_others_have_one() {
        assert_eq!(parts(&["/home/me/train.py <module>"]), [CodePart::Backward; 3]);
    }
}
