//! The facts about one stack: which part of the program it lies in, and what else its frames show.

use super::stack_traits::{StackTrait, StackTraits};
use oomscope_model::FrameId;

/// A part of a program that code can belong to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum CodePart {
    /// No frame was recorded.
    #[default]
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
    /// One buffer is made for all parameters, and one for their gradients.
    FlatBuffer,
    /// An optimizer makes parameters of its own.
    MainParameters,
    /// Gradients are copied.
    GradientCopy,
    /// Communication buffers.
    Comm,
    /// A batch is loaded or brought to the device.
    Data,
    /// Workspaces of libraries.
    Workspace,
    /// Code outside of all that.
    Main,
}

/// The facts about one stack; by default, about one without frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StackFacts {
    /// The part of the program that the stack lies in.
    pub(crate) part: CodePart,
    /// The frame that says so; the innermost of the program's own where none does.
    pub(crate) decided_by: Option<FrameId>,
    /// Everything that is either true or not.
    pub(super) traits: StackTraits,
    /// A number that stands for the line in the step of one of torch's optimizers that calls a closure; 0 elsewhere.
    pub(super) closure_line: u32,
    /// A number that stands for the frames outside of the outermost module, lines included.
    pub(crate) caller: u32,
    /// A number that stands for the functions of those frames, whatever their lines.
    pub(crate) calling_code: u32,
    /// A number that stands for the `forward` of the outermost module; 0 outside of modules.
    pub(super) module_code: u32,
}

impl StackFacts {
    /// Whether the stack has a trait.
    #[inline]
    pub(crate) const fn has(&self, wanted: StackTrait) -> bool {
        self.traits.has(wanted)
    }
}
