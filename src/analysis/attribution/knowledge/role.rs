//! What a single frame can say about the code that it lies in.

/// The meaning of a frame, from its file and function alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::analysis) enum Role {
    /// The program's own code, or a library that is not known.
    Own,
    /// PyTorch, the interpreter or a C++ library: no meaning of its own.
    Neutral,
    /// A function of `torch.nn.functional`.
    Functional,
    /// Compiled code without a meaning of its own.
    Compiled,
    /// Where a thread of the program starts.
    Root,
    /// The same in compiled code. Python frames may follow: torch mixes both kinds as far as they go.
    Start,
    /// `Module.__call__`.
    Call,
    /// Parameters and buffers are made, moved, converted, copied or loaded.
    Load,
    /// `torch.load` and the like: tensors come from a file.
    Restore,
    /// `copy.deepcopy` goes through a dict, an object, a tensor.
    CopyDict,
    /// See [`CopyDict`](Self::CopyDict).
    CopyObject,
    /// See [`CopyDict`](Self::CopyDict).
    CopyTensor,
    /// Inside of `Optimizer.step`.
    Step,
    /// Inside of an optimizer, where it sets up its state.
    State,
    /// Inside of an optimizer, where it works on many tensors at once.
    Foreach,
    /// `Optimizer.zero_grad`.
    ZeroGrad,
    /// The call that starts the autograd engine.
    Backward,
    /// Inside of the autograd engine (C++ frames).
    Engine,
    /// Activation checkpointing.
    Checkpoint,
    /// Buffers of `DistributedDataParallel`, FSDP and collectives.
    Comm,
    /// FSDP puts a parameter together from its shards: for a moment, and maybe within the backward.
    Unshard,
    /// A batch is loaded or brought to the device.
    Data,
    /// Gradient scaling and clipping: between backward and step.
    BetweenSteps,
    /// `torch.no_grad`, `torch.inference_mode` as decorators.
    NoGrad,
    /// `torch.enable_grad` as a decorator, where its name shows: optimizers call closures so.
    EnableGrad,
    /// A key/value cache.
    Cache,
    /// A workspace of cuBLAS or cuDNN (C++ frames).
    Workspace,
}
