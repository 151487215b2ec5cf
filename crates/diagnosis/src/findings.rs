//! The kinds of findings: one table.
//!
//! A row has a finding's name, whether the program needs the memory that it is about, the remedies that simulate what it
//! advises, the section of `docs/report.md` that says more, and its meaning in words. Which detector makes which kinds is the
//! table [`DETECTORS`](super::detectors::DETECTORS).

/// Whether the program needs the memory that a finding is about. A verdict about too little memory names what it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The finding is a verdict, a figure, or about memory of which some is needed.
    Open,
    /// The program needs it as it is written, and would not if one thing were written otherwise.
    AsWritten,
    /// Nothing needs it, whatever the batch and the model are.
    Nothing,
}

/// A kind of finding: one row of the table.
#[derive(Debug, Clone, Copy)]
pub struct FindingKind {
    /// Its name in output and documentation; it does not change.
    pub name: &'static str,
    /// Whether the program needs the memory that it is about.
    pub need: Need,
    /// The ids of the remedies that simulate its advice where they apply; `NAME=VALUE` and `N` stand for others. It is a
    /// property of the kind alone: whether a report was made with or without simulating, it says the same.
    pub remedies: &'static [&'static str],
    /// The section of `docs/report.md` that says more.
    pub section: &'static str,
    /// What it says, for people.
    pub says: &'static str,
}

/// What lowers the activations of a training step.
const LESS_ACTIVATIONS: &[&str] = &[
    "checkpoint-all",
    "checkpoint-half",
    "checkpoint-largest",
    "checkpoint-some",
    "checkpoint-policy",
    "save-on-cpu",
    "memory-budget",
    "bf16-autocast",
    "half-batch",
];

/// What frees gradients after each step.
const FREED_GRADIENTS: &[&str] = &["zero-grad-none"];

/// What leaves out a second copy of the weights.
const NO_COPY: &[&str] = &["no-copy"];

/// What closes holes.
const FEWER_HOLES: &[&str] = &["set:NAME=VALUE"];

/// What lets go of graphs and of memory of earlier iterations.
const LET_GO: &[&str] = &["detach", "eval-no-grad"];

/// What makes optimizer state smaller.
const LESS_STATE: &[&str] = &["adamw-8bit", "sgd", "sgd-momentum", "offload-state", "shard-N"];

macro_rules! findings {
    ($($id:ident $name:literal $need:ident $remedies:expr, $section:ident $says:literal;)*) => {
        /// The kind of a finding.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum FindingId {
            $(#[doc = $says] $id,)*
        }

        /// All kinds, in the order of their ids.
        pub const FINDINGS: [FindingKind; [$(FindingId::$id),*].len()] = [$(FindingKind {
            name: $name,
            need: Need::$need,
            remedies: $remedies,
            section: $section,
            says: $says,
        }),*];

        impl FindingId {
            /// All kinds, in the order of the table.
            pub const ALL: [Self; FINDINGS.len()] = [$(Self::$id),*];
        }
    };
}

const VERDICT: &str = "the-verdict";
const AVOIDABLE: &str = "memory-that-need-not-be-there";
const OTHERS: &str = "the-findings";

// id, name, need, remedies, section, and the finding in words.
findings! {
    Capacity "capacity" Open &[], VERDICT "the program needs more than the device has, or than a limit on the process allows";
    Fragmentation "fragmentation" Open FEWER_HOLES, VERDICT "there would be enough memory if it were in one piece";
    PendingFree "pending-free" Open &[], VERDICT "a free piece had room, but became free only while the request was failing";
    KeptFree "kept-free" Open &[], VERDICT "a free piece had room, but a limit on splitting blocks keeps it for larger requests";
    OtherPool "other-pool" Open &[], VERDICT "free memory had room, but is of another pool";
    OtherStream "other-stream" Open &[], VERDICT "free memory had room, but is of another stream";
    SingleRequest "single-request" Open &["sdpa", "chunk-loss", "half-batch"], VERDICT "one request is out of all proportion";
    OutsidePytorch "outside-pytorch" Open &[], VERDICT "something outside of PyTorch's allocator holds the device's memory";
    UnevenRanks "uneven-ranks" Open &[], VERDICT "the rank has more than the others of its job, and would have had enough without";
    Leak "leak" Open LET_GO, VERDICT "memory stays from iteration to iteration although nothing needs it";
    Nothing "none" Open &[], VERDICT "no request failed at this moment, or the file does not show why one did";

    SecondModel "second-model" Nothing NO_COPY, AVOIDABLE "an average, a reference or a teacher beside the model";
    SameParametersTwice "same-parameters-twice" Nothing NO_COPY, AVOIDABLE
        "a checkpoint, a state dict or copies of the model's weights";
    UnusedOptimizerState "unused-optimizer-state" Nothing &[], AVOIDABLE
        "state of an optimizer that does not step any more";
    TwoOptimizers "two-optimizers" Nothing &[], AVOIDABLE "state of several optimizers for the same parameters";
    EvaluationGraph "evaluation-graph" Nothing &["eval-no-grad"], AVOIDABLE "an evaluation that keeps a graph";
    TrainingResident "training-resident" Nothing FREED_GRADIENTS, AVOIDABLE
        "an evaluation that runs while the training step's memory is still there";
    CallsBeforeBackward "calls-before-backward" Nothing LET_GO, AVOIDABLE
        "more calls before one backward pass, or with graphs in one iteration, than ever before";
    TwoGraphs "two-graphs" Nothing LET_GO, AVOIDABLE
        "graphs of several calls, one of them over or of a model that no step changes";
    GradientsNotZeroed "gradients-not-zeroed" Nothing FREED_GRADIENTS, AVOIDABLE "gradients that outlive the step";
    PrefetchedBatches "prefetched-batches" Nothing &[], AVOIDABLE
        "several batches on the device for each call of the model";
    AutocastCopies "autocast-copies" AsWritten &["bf16-model", "checkpoint-all"], AVOIDABLE
        "copies of weights at half width";
    AttentionScores "attention-scores" AsWritten &["sdpa"], AVOIDABLE "attention that is written out, whose scores are much of the activations";
    QuadraticLength "quadratic-length" AsWritten &["sdpa"], AVOIDABLE
        "blocks that grow with the square of the inputs, as two lengths in the file show";

    FrozenModels "frozen-models" Open &[], OTHERS "frozen models beside the one that is trained, as the program said: a teacher, an encoder";
    MasterWeights "master-weights" Open &[], OTHERS "copies of weights in float32 that an optimizer updates, beside a model of half precision";
    Activations "activations" Open LESS_ACTIVATIONS, OTHERS "what the forward pass keeps for the backward pass";
    GradientsKept "gradients-kept" Open FREED_GRADIENTS, OTHERS
        "gradients that are held while nothing computes them, as when several batches accumulate";
    OptimizerState "optimizer-state" Open LESS_STATE, OTHERS "what the optimizer keeps for each parameter";
    OptimizerTemporaries "optimizer-temporaries" Open &["adamw-fused", "adamw-foreach-false"], OTHERS
        "what the optimizer's step makes and gives back";
    MemoryGrowth "memory-growth" Open LET_GO, OTHERS "memory that stays from earlier iterations, perhaps on purpose";
    LargeBlock "large-block" Open &["bf16-model"], OTHERS "one block that takes half of the device";
    GrowingGap "growing-gap" Open FEWER_HOLES, OTHERS
        "reserved memory that is not in use, if it grows from iteration to iteration";
    PinnedSegments "pinned-segments" Open &[], OTHERS "small blocks that keep large segments from being reused";
    CachedSegments "cached-segments" Open &[], OTHERS "segments without any block";
    Rounding "rounding" Open &[], OTHERS "bytes that blocks take beyond what was requested";
    RecordStream "record-stream" Open &[], OTHERS "blocks that were given back and wait for another stream";
    PrivatePools "private-pools" Open &[], OTHERS "memory that only a graph or a pool of the program can use";
    AllocationRetries "allocation-retries" Open &[], OTHERS "how often the cache was emptied to serve a request";
    EmptyCache "empty-cache" Open &[], OTHERS "how often the cache was emptied although no request needed it";
    Breakdown "breakdown" Open &[], OTHERS "what is in use, by category";
    TopContributors "top-contributors" Open &[], OTHERS "the lines of code that hold most of what is in use";
    Rise "rise" Open &[], OTHERS "what this iteration added to the memory before it";
    SettingNotInEffect "setting-not-in-effect" Open &[], OTHERS
        "a setting of the allocator that was asked for and is not obeyed, and why as far as the file shows it";
    PinnedHostMemory "pinned-host-memory" Open &[], OTHERS "pinned memory of the host";
    DeviceAccount "device-account" Open &[], OTHERS "the whole device, as PyTorch's own exception states it";
    OtherDevices "other-devices" Open &[], OTHERS "what the other devices of the file held at the failure";
    RecordingLimits "recording-limits" Open &[], OTHERS
        "what the recording does not show, and how to record it";
}

impl FindingId {
    /// Its row of the table.
    pub fn kind(self) -> &'static FindingKind {
        &FINDINGS[self as usize]
    }

    /// Its name in output.
    pub fn name(self) -> &'static str {
        self.kind().name
    }
}
