//! Which rule decided, in words.

/// Why an allocation has its category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Reason {
    /// Nothing is known.
    Nothing,
    /// A rule of the user's.
    Rule,
    /// The recording says so.
    Recorded,
    /// The program annotated it.
    Annotated,
    /// In a private pool.
    PrivatePool,
    /// Made or moved as a part of a module.
    ModuleLoad,
    /// Made before the first call, with a gradient of its size.
    HasGradient,
    /// Made in an `__init__` while a device was set.
    ModuleInit,
    /// Made outside of modules just before a parameter of its size was given back, and kept.
    ReplacesParameter,
    /// Within a call of a module.
    ModuleCall,
    /// Within a module's call in a key/value cache's code.
    CacheCode,
    /// Kept from call to call and replaced within a later one.
    KeptAcrossCalls,
    /// Equal blocks made before the first call of a model that only infers.
    CacheBlocks,
    /// By the autograd engine.
    Backward,
    /// Recomputed by checkpointing.
    Recomputed,
    /// Allocated in an optimizer's set-up of its state.
    StateSetup,
    /// Allocated in a step and kept after it.
    KeptAfterStep,
    /// Allocated in a step and gone with it.
    GoneWithStep,
    /// Allocated in the step that did not end, by code whose other blocks were kept.
    LikeKeptInStep,
    /// Allocated in the step that did not end, by code whose other blocks are gone.
    LikeGoneInStep,
    /// A buffer of a communication library.
    CommBuffer,
    /// The same, but gradients are views into it.
    BucketOfGradients,
    /// By a data loader, or code that brings batches to the device.
    Loader,
    /// Made outside of any model before a call, and gone soon after it.
    BeforeCall,
    /// Made outside of any model before the first call, and kept.
    BeforeFirstCall,
    /// By an `__init__` or code for weights, in a program that shows no modules.
    WeightCode,
    /// Older than the recording, by other code of such a program.
    OldOutside,
    /// As many and as large as the parameters, but not made as a part of a module.
    CopyOfParameters,
    /// Outside of any model, after a forward: the loss.
    Loss,
    /// Outside of any model, after a call that does not train.
    Result,
    /// Between backward and the next batch, for a moment.
    BetweenSteps,
    /// Outside of any model, kept.
    KeptOutside,
    /// A workspace of a library.
    Workspace,
    /// Sizes: as large as the workspace that torch sets aside for cuBLAS.
    WorkspaceSize,
    /// Sizes: one of several blocks of a size, of which the first are parameters.
    SizePairing,
    /// Sizes: no other block pairs with it, and it is older than the recording.
    OldAndAlone,
    /// Sizes: no other block pairs with it, and it lies behind memory that was given back.
    OldButLater,
    /// Sizes: the same, and it lies behind the parameters, where an optimizer of its own kind steps.
    OldState,
    /// Sizes: the same, with `DistributedDataParallel` at work.
    OldBuckets,
    /// No stacks: lies before anything that had been given back, and is one of the first of its size.
    LiesFirst,
    /// No stacks: one of equal blocks, two for each layer of a model that does not train.
    TwoForEachLayer,
    /// Sizes: older than the recording, given back by a step that left state of its size.
    RenewedInStep,
    /// No stacks: kept from before the first repetition on.
    EarlyAndKept,
    /// No stacks: pairs with parameters, and is given back in each repetition.
    PairsAndGoes,
    /// No stacks: given back where an optimizer announced that it drops gradients.
    DroppedAsGradient,
    /// No stacks: made where a batch is loaded, judging by what recurs.
    MadeAsData,
    /// No stacks: given back in each repetition.
    Repeats,
    /// Older than the recording, given back in it, and as large as what the calls of models in it make.
    LikeThisCall,
}

impl Reason {
    /// Whether the user, the program or the recording said so. Nothing that is found can be surer.
    pub fn is_declared(self) -> bool {
        matches!(self, Self::Rule | Self::Recorded | Self::Annotated)
    }

    /// The rule in words: what was seen that decided.
    pub fn text(self) -> &'static str {
        match self {
            Self::Nothing => "no stack was recorded, and its size and lifetime do not tell",
            Self::Rule => "a rule of your rules file",
            Self::Recorded => "the recording names this category",
            Self::Annotated => "the program annotated it so",
            Self::PrivatePool => "lies in a private pool",
            Self::ModuleLoad => "made, moved or loaded as a part of a module",
            Self::HasGradient => "made before the first backward, which leaves a gradient of its size",
            Self::ModuleInit => "made in an __init__ with a device set from outside",
            Self::ReplacesParameter => {
                "made just before a parameter of its size was given back, and kept in its place"
            }
            Self::ModuleCall => "allocated within a module's call",
            Self::CacheCode => "allocated in the code of a key/value cache",
            Self::KeptAcrossCalls => {
                "kept after a call by a helper of the model, and replaced within a later one"
            }
            Self::CacheBlocks => {
                "one of many equal blocks made before the first call, in a recording without training"
            }
            Self::Backward => "allocated by the autograd engine",
            Self::Recomputed => "recomputed by checkpointing during the backward",
            Self::StateSetup => "allocated where an optimizer sets up its state",
            Self::KeptAfterStep => "allocated in Optimizer.step and kept",
            Self::GoneWithStep => "allocated in Optimizer.step and given back before it ended",
            Self::LikeKeptInStep => "allocated in an unfinished Optimizer.step by code whose blocks stay",
            Self::LikeGoneInStep => "allocated in an unfinished Optimizer.step by code whose blocks go",
            Self::CommBuffer => "allocated by communication code",
            Self::BucketOfGradients => {
                "a bucket of DistributedDataParallel after a backward that left no other gradients"
            }
            Self::Loader => "allocated where batches are loaded or brought to the device",
            Self::BeforeCall => "made outside of models before a call, and given back soon after",
            Self::BeforeFirstCall => "made outside of models before the first call, and kept",
            Self::WeightCode => {
                "made by an __init__ or a function that makes weights, in a program that shows no modules"
            }
            Self::OldOutside => "older than the recording, and its stack shows no module or optimizer",
            Self::CopyOfParameters => {
                "as many and as large as the parameters, but not made as a part of a module"
            }
            Self::Loss => "made outside of models between forward and backward",
            Self::Result => "made outside of models after a call that does not train",
            Self::BetweenSteps => "made outside of models between backward and the next batch, for a moment",
            Self::KeptOutside => "made outside of models and kept",
            Self::Workspace => "a library's workspace",
            Self::WorkspaceSize => {
                "no stack: exactly as large as the workspace that PyTorch sets aside for cuBLAS"
            }
            Self::SizePairing => "no stack: its size pairs with those of other blocks",
            Self::OldAndAlone => "no stack: older than the recording, and nothing pairs with its size",
            Self::OldButLater => {
                "no stack: older than the recording, nothing pairs with its size, and it lies behind memory that was given back before"
            }
            Self::OldState => {
                "no stack: older than the recording, behind the parameters, and the optimizer keeps state of sizes of its own"
            }
            Self::OldBuckets => {
                "no stack: older than the recording, behind the parameters of a model that DistributedDataParallel trains"
            }
            Self::LiesFirst => {
                "no stack: lies where memory was used first, and is one of the first of its size"
            }
            Self::TwoForEachLayer => {
                "no stack: one of equal blocks, two for each layer of a model that does not train"
            }
            Self::RenewedInStep => {
                "no stack: older than the recording, and given back by an optimizer step that left state of its size"
            }
            Self::EarlyAndKept => "no stack: made before anything repeats, and kept",
            Self::PairsAndGoes => "no stack: as large as a parameter, and given back in each repetition",
            Self::DroppedAsGradient => "no stack: given back by Optimizer.zero_grad, which torch announced",
            Self::MadeAsData => "no stack: made where a batch is loaded, judging by what recurs",
            Self::Repeats => "no stack: given back in each repetition",
            Self::LikeThisCall => {
                "no stack: older than the recording, and as large as what the calls of models in it make"
            }
        }
    }
}
