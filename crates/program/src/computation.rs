//! What the passes of a run compute: which allocations, by which operations, in which blocks, depending on what.

use super::dependence::{self, Dependence};
use super::frames::CallFrames;
use super::frees::Frees;
use super::modules::{self, Kept};
use super::operation_kind::OperationKind;
use super::operations::{self, Operation};
use super::passes::Spans;
use super::run::Run;
use super::span::{Pass, Span};
use foldhash::HashSet;
use oomscope_analysis::Category;
use oomscope_model::{AllocId, EventIx, Moment};
use std::ops::Range;
use std::sync::OnceLock;

/// What the passes of a run compute.
#[derive(Debug)]
pub struct Computation<'a> {
    /// The run.
    pub run: Run<'a>,
    /// Forwards with their backwards, and evaluations, in order.
    pub spans: Spans,
    /// Which allocation each event gives back.
    pub frees: Frees,
    /// What frames tell about calls.
    pub frames: CallFrames,
    dependences: Vec<Dependence>,
    has_weight_copies: bool,
    /// The sizes of parameters.
    parameter_bytes: OnceLock<HashSet<u64>>,
}

impl<'a> Computation<'a> {
    /// Look at a run.
    pub fn of(run: Run<'a>) -> Self {
        let frames = CallFrames::of(&run);
        let spans = Spans::of(&run, &frames);
        let frees = Frees::of(run.recording);
        let dependences = dependence::find(&run, &frames, &spans);
        // Asked for each call of attention.
        let has_weight_copies = dependences.contains(&Dependence::WeightCopy);
        let parameter_bytes = OnceLock::new();
        Self { run, spans, frees, frames, dependences, has_weight_copies, parameter_bytes }
    }

    /// What an allocation depends on.
    #[inline]
    pub fn dependence(&self, id: AllocId) -> Dependence {
        self.dependences.get(id.index()).copied().unwrap_or(Dependence::Fixed)
    }

    /// Whether an allocation depends on a batch, of training or of an evaluation.
    #[inline]
    pub fn depends_on_batch(&self, id: AllocId) -> bool {
        matches!(self.dependence(id), Dependence::Batch | Dependence::EvalBatch)
    }

    /// Whether some backward was recorded.
    pub fn has_backward(&self) -> bool {
        self.spans.passes().any(|pass| pass.backward < pass.events.end)
    }

    /// Whether autocast copies parameters.
    pub fn has_weight_copies(&self) -> bool {
        self.has_weight_copies
    }

    /// Whether a module's product of matrices made an allocation.
    pub fn is_product(&self, id: AllocId) -> bool {
        self.frames.is_product(self.run.recording.snapshot(), self.run.recording.stack(id))
    }

    /// What the operation that made an allocation does to the types of numbers.
    pub fn operation_kind(&self, id: AllocId) -> OperationKind {
        self.frames.operation(self.run.recording.snapshot(), self.run.recording.stack(id)).0
    }

    /// The pass that an event lies in.
    pub fn pass_at(&self, event: EventIx) -> Option<&Pass> {
        match self.spans.at(event)? {
            Span::Pass(pass) => Some(pass),
            Span::Eval(..) => None,
        }
    }

    /// The repeated blocks in some events of a forward: the allocations from the first to the last of each.
    pub fn blocks(&self, events: &Range<u32>) -> Vec<Range<u32>> {
        let lifetimes = &self.run.recording.lifetimes;
        let range = events.start as usize + 1..events.end as usize + 1;
        let peak = self.run.recording.active.peak_in(range).map_or(Moment(events.end), |(peak, _)| peak);
        let is_kept = |id: AllocId| {
            self.depends_on_batch(id)
                && lifetimes.start(id) <= peak
                && lifetimes.end(id).is_none_or(|end| peak < end)
        };
        self.blocks_that_keep(events, is_kept)
    }

    /// The repeated blocks in some events of a call that does not train: those that they would be if it kept what training keeps.
    pub fn blocks_of_call(&self, events: &Range<u32>) -> Vec<Range<u32>> {
        self.blocks_that_keep(events, |id| self.depends_on_batch(id))
    }

    fn blocks_that_keep(&self, events: &Range<u32>, is_kept: impl Fn(AllocId) -> bool) -> Vec<Range<u32>> {
        let ids: Vec<AllocId> = self.run.made_in(events).collect();
        let kept = Kept::of(&self.run, &ids, is_kept);
        modules::repeated_blocks(&self.run, &self.frames, &ids, &kept)
    }

    /// The operations of a forward.
    pub fn operations(&self, events: &Range<u32>) -> Vec<Operation> {
        let ids: Vec<AllocId> = self.run.made_in(events).filter(|&id| self.depends_on_batch(id)).collect();
        operations::operations(&self.run, &self.frames, self.parameter_bytes(), &ids)
    }

    /// The sizes of parameters.
    pub(super) fn parameter_bytes(&self) -> &HashSet<u64> {
        let sizes = || self.run.of_category(Category::Parameter).into_iter().map(|id| self.run.bytes(id));
        self.parameter_bytes.get_or_init(|| sizes().collect())
    }
}
