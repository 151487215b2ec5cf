//! What the recorded program is and does: its passes and steps, its blocks, what each allocation depends on, its attention,
//! its losses, its types of numbers and its optimizer. Each is found once, for all that ask.
//!
//! This layer knows no words, no advice and no simulation.

mod attention;
mod batch_size;
mod dependence;
mod frames;
mod frees;
mod losses;
mod modules;
mod number_types;
mod operation_kind;
mod operations;
mod optimizer;
mod passes;
mod run;
mod running;
mod training_steps;
mod weights;

pub use attention::{Attention, is_attention_fused};
pub use batch_size::BatchSize;
pub use dependence::Dependence;
pub use frames::{CallFrames, FrameKind};
pub use frees::Frees;
pub use losses::Loss;
pub use number_types::NumberTypes;
pub use operation_kind::OperationKind;
pub use operations::Operation;
pub use optimizer::{AdamStep, OptimizerFacts};
pub use passes::{Pass, Span, Spans};
pub use run::{Run, StackSet};
pub use running::{CallStack, Running};
pub use training_steps::{TrainingStep, training_steps};

use crate::model::{AllocId, EventIx, Moment};
use std::ops::Range;
use std::sync::OnceLock;

/// The program of a run.
#[derive(Debug)]
pub struct Workload<'a> {
    /// The run that shows it.
    pub run: Run<'a>,
    /// Forwards with their backwards, and evaluations, in order.
    pub spans: Spans,
    /// Which allocation each event gives back.
    pub frees: Frees,
    /// What frames tell about calls.
    pub frames: CallFrames,
    dependences: Vec<Dependence>,
    attention: OnceLock<Vec<Attention>>,
    losses: OnceLock<Vec<Loss>>,
    number_types: OnceLock<NumberTypes>,
}

impl<'a> Workload<'a> {
    /// Look at a run.
    pub fn of(run: Run<'a>) -> Self {
        let spans = Spans::of(&run);
        let frames = CallFrames::of(run.snapshot);
        let frees = Frees::of(run.timeline);
        let dependences = dependence::find(&run, &frames, &spans);
        let (attention, losses, number_types) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { run, spans, frees, frames, dependences, attention, losses, number_types }
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
        self.dependences.contains(&Dependence::WeightCopy)
    }

    /// Whether a module's product of matrices made an allocation.
    pub fn is_product(&self, id: AllocId) -> bool {
        self.frames.is_product(self.run.snapshot, self.run.timeline.stack(id))
    }

    /// What the operation that made an allocation does to the types of numbers.
    pub fn operation_kind(&self, id: AllocId) -> OperationKind {
        self.frames.operation(self.run.snapshot, self.run.timeline.stack(id)).0
    }

    /// The pass that an event lies in.
    pub fn pass_at(&self, event: EventIx) -> Option<&Pass> {
        match self.spans.at(event)? {
            Span::Pass(pass) => Some(pass),
            Span::Eval(..) => None,
        }
    }

    /// Attention that is written out, so that its scores are in memory, in the order of calls.
    pub fn attention(&self) -> &[Attention] {
        self.attention.get_or_init(|| attention::find(self))
    }

    /// Losses whose logits are larger than anything else that their pass keeps, in the order of calls.
    pub fn losses(&self) -> &[Loss] {
        self.losses.get_or_init(|| losses::find(self))
    }

    /// The types of numbers.
    pub fn number_types(&self) -> &NumberTypes {
        self.number_types.get_or_init(|| NumberTypes::of(self))
    }

    /// The repeated blocks in some events of a forward: the allocations from the first to the last of each.
    pub fn blocks(&self, events: &Range<u32>) -> Vec<Range<u32>> {
        let lifetimes = &self.run.timeline.lifetimes;
        let ids: Vec<AllocId> = self.run.made_in(events).collect();
        let Some(&first) = ids.first() else { return Vec::new() };
        let range = events.start as usize + 1..events.end as usize + 1;
        let peak = self.run.timeline.active.peak_in(range).map_or(Moment(events.end), |(peak, _)| peak);
        let mut sums = vec![0u64];
        for &id in &ids {
            let is_kept = self.depends_on_batch(id)
                && lifetimes.start(id) <= peak
                && lifetimes.end(id).is_none_or(|end| peak < end);
            let sum = sums.last().copied().unwrap_or(0);
            sums.push(sum.saturating_add(if is_kept { self.run.bytes(id) } else { 0 }));
        }
        let sum_to = |id: u32| sums[(id - first.0) as usize];
        let kept = |ids: Range<u32>| sum_to(ids.end) - sum_to(ids.start);
        modules::repeated_blocks(&self.run, &self.frames, &ids, &kept)
    }

    /// The operations of a forward.
    pub fn operations(&self, events: &Range<u32>) -> Vec<Operation> {
        let ids: Vec<AllocId> = self.run.made_in(events).filter(|&id| self.depends_on_batch(id)).collect();
        operations::operations(&self.run, &self.frames, &ids)
    }
}
