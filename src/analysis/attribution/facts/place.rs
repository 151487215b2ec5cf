//! Where in the program a stack lies: each stack of the file is looked at once.

use super::known::Frames;
use crate::analysis::attribution::knowledge::Optimizer;
use crate::analysis::attribution::knowledge::Role;
use crate::model::{FrameId, Snapshot, StackId};
use rayon::prelude::*;

/// What the code that a stack shows is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::analysis) enum Part {
    /// No frame was recorded.
    Nothing,
    /// Parameters and buffers are made or moved.
    Load,
    /// Tensors are read from a file.
    Restore,
    /// A module is called.
    Call,
    /// The autograd engine runs.
    Backward,
    /// Checkpointing computes a part of the forward again.
    Recompute,
    /// An optimizer sets up its state.
    State,
    /// An optimizer works on many tensors at once.
    Foreach,
    /// An optimizer steps.
    Step,
    /// Gradients are dropped.
    ZeroGrad,
    /// Gradients are scaled or clipped.
    BetweenSteps,
    /// Communication buffers.
    Comm,
    /// A batch is loaded or brought to the device.
    Data,
    /// Workspaces of libraries.
    Workspace,
    /// Code outside of all that.
    Main,
}

/// A stack, understood.
#[expect(clippy::struct_excessive_bools, reason = "each says another thing of the same stack")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::analysis) struct Place {
    /// What it is part of.
    pub(in crate::analysis) part: Part,
    /// The frame that says so; the innermost of the program's own where none does.
    pub(in crate::analysis) decided_by: Option<FrameId>,
    /// In a function of a key/value cache.
    pub(in crate::analysis) in_cache: bool,
    /// Gradients are switched off by a decorator.
    pub(in crate::analysis) no_grad: bool,
    /// In a part of a model that checkpointing will compute again.
    pub(in crate::analysis) checkpoints: bool,
    /// In the program's own `__init__`, with a device set from outside.
    pub(in crate::analysis) on_set_device: bool,
    /// In some `__init__` of the program's own.
    pub(in crate::analysis) in_init: bool,
    /// The innermost function of the program's own is called as one that steps an optimizer.
    pub(in crate::analysis) in_own_step: bool,
    /// In a function of `torch.nn.functional`.
    pub(in crate::analysis) computes: bool,
    /// Some function of the program's own on the way is called so.
    pub(in crate::analysis) below_own_step: bool,
    /// In some function of the program's own whose name says that it makes or loads weights.
    pub(in crate::analysis) for_weights: bool,
    /// An optimizer's step is under way, maybe further out: what a closure does.
    pub(in crate::analysis) within_step: bool,
    /// Stands for the line in the step of one of torch's optimizers from which a closure is called; 0 elsewhere.
    pub(super) closure_line: u32,
    /// In the step of an optimizer that the program defines.
    pub(in crate::analysis) own_step: bool,
    /// In a function that perturbs parameters for a second backward.
    pub(in crate::analysis) perturbs: bool,
    /// Names on the way say that this is evaluation or inference.
    pub(in crate::analysis) says_eval: bool,
    /// Names on the way say that it may be.
    pub(in crate::analysis) may_eval: bool,
    /// Stands for the frames outside of the outermost module; equal where those are equal.
    pub(in crate::analysis) caller: u32,
    /// The same by their functions only, whatever their lines.
    pub(in crate::analysis) calling_code: u32,
}

impl Place {
    pub(super) const NOTHING: Self = Self {
        part: Part::Nothing,
        decided_by: None,
        in_cache: false,
        no_grad: false,
        checkpoints: false,
        on_set_device: false,
        in_init: false,
        in_own_step: false,
        below_own_step: false,
        computes: false,
        for_weights: false,
        within_step: false,
        closure_line: 0,
        own_step: false,
        perturbs: false,
        says_eval: false,
        may_eval: false,
        caller: 0,
        calling_code: 0,
    };
}

/// The places of all stacks.
#[derive(Debug, Default)]
pub(in crate::analysis) struct Places {
    all: Vec<Place>,
    /// All frames are of compiled code, which says little of what it is for.
    pub(in crate::analysis) is_compiled: bool,
    /// The optimizers that steps run through; empty if no step allocates.
    pub(in crate::analysis) optimizers: Vec<Optimizer>,
    /// `DistributedDataParallel` is at work.
    pub(in crate::analysis) uses_ddp: bool,
}

impl Places {
    /// Look at every frame and stack of a snapshot.
    pub(in crate::analysis) fn of(snapshot: &Snapshot) -> Self {
        let frames = Frames::of(snapshot);
        let all: Vec<Place> = (0..snapshot.stacks.len() as u32)
            .into_par_iter()
            .map(|id| frames.place(snapshot.stacks.frames(StackId(id))))
            .collect();
        let every = |roles: &[Role]| frames.roles.iter().all(|role| roles.contains(role));
        let mut optimizers = frames.optimizers();
        if all.iter().any(|place| place.own_step) && !optimizers.contains(&Optimizer::OfItsOwn) {
            optimizers.push(Optimizer::OfItsOwn);
        }
        let is_compiled = !frames.roles.is_empty()
            && every(&[Role::Compiled, Role::Engine, Role::Workspace, Role::Start, Role::Comm]);
        Self { all, is_compiled, optimizers, uses_ddp: frames.uses_ddp }
    }

    /// Whether stacks show modules or optimizers of torch, or the autograd engine.
    pub(in crate::analysis) fn show_torch(&self) -> bool {
        let parts = [Part::Load, Part::Call, Part::Backward, Part::State, Part::Foreach, Part::Step];
        self.all.iter().any(|place| parts.contains(&place.part))
    }

    /// The place of a stack.
    #[inline]
    pub(in crate::analysis) fn get(&self, stack: StackId) -> Place {
        self.all.get(stack.index()).copied().unwrap_or(Place::NOTHING)
    }
}
