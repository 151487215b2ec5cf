//! The roles that a single frame can show.

/// The role of a frame's code, from its file and function alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The program's own code, or a library that is not known.
    Own,
    /// PyTorch, the interpreter or a C++ library, without a role of its own.
    Neutral,
    /// A function of `torch.nn.functional`.
    Functional,
    /// Compiled code without a role of its own.
    Compiled,
    /// The start of a thread of the program.
    Root,
    /// The start of a thread in compiled code. Python frames may follow: torch writes one kind after the other.
    Start,
    /// `Module.__call__`.
    Call,
    /// `torch.func` calls a function that works as a model.
    Transform,
    /// Parameters and buffers are made, moved, converted, copied or loaded.
    Load,
    /// `torch.load` and the like: tensors come from a file.
    Restore,
    /// `copy.deepcopy` goes through a dict.
    CopyDict,
    /// `copy.deepcopy` goes through an object.
    CopyObject,
    /// `copy.deepcopy` copies a tensor.
    CopyTensor,
    /// Inside of `Optimizer.step`.
    Step,
    /// Inside of an optimizer that sets up its state.
    State,
    /// Inside of an optimizer that works on many tensors at once.
    Foreach,
    /// `Optimizer.zero_grad`.
    ZeroGrad,
    /// The call that starts the autograd engine.
    Backward,
    /// Inside of the autograd engine (C++ frames).
    Engine,
    /// Activation checkpointing.
    Checkpoint,
    /// One buffer is made for all parameters, and one for their gradients.
    FlatBuffer,
    /// An optimizer makes parameters of its own, in another precision.
    MainParameters,
    /// Gradients are copied, to those of an optimizer's own parameters.
    GradientCopy,
    /// Buffers of `DistributedDataParallel`, FSDP and collectives.
    Comm,
    /// FSDP puts a parameter together from its shards for a moment, maybe within the backward.
    Unshard,
    /// A batch is loaded or brought to the device.
    Data,
    /// Gradient scaling and clipping: between backward and step.
    BetweenSteps,
    /// `torch.no_grad` or `torch.inference_mode` as a decorator.
    NoGrad,
    /// `torch.enable_grad` as a decorator, where its name shows: optimizers call closures in it.
    EnableGrad,
    /// A key/value cache.
    Cache,
    /// A workspace of cuBLAS or cuDNN (C++ frames).
    Workspace,
}
