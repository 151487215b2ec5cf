//! What losses over many classes need: logits, their logarithms, and the gradients of both.

use super::computation::Computation;
use super::run::{Run, StackSet};
use oomscope_analysis::{Category, TorchOperation};
use oomscope_model::{AllocId, Moment};

/// The logits are found among this many allocations before the loss.
const NEAR: u32 = 64;

/// What belongs to a loss is at least one part in this many of its logarithms: half if autocast made the logits, a little
/// less if they are shifted by one.
const SIZE_PART: u64 = 3;

/// One computation of a loss.
#[derive(Debug)]
pub struct Loss {
    /// Its probabilities, as logarithms.
    pub logarithms: AllocId,
    /// The logits and all of about their size up to the loss, the logarithms included.
    pub forward: Vec<AllocId>,
    /// Their gradients.
    pub backward: Vec<AllocId>,
    /// Whether transformers computes it in fp32 whatever the model's type is.
    pub is_upcast: bool,
}

/// The losses of a recording whose logits are larger than anything else that their pass keeps.
pub(super) fn find(computation: &Computation<'_>) -> Vec<Loss> {
    let run = &computation.run;
    let in_loss = in_loss(run);
    let upcast = run.stacks_with(|code| code.upcasts_logits());
    let ids: Vec<AllocId> = run.recording.ids().filter(|&id| in_loss.has(run.recording.stack(id))).collect();
    let groups = ids.chunk_by(|a, b| a.0 + 1 == b.0);
    groups.filter_map(|group| loss(run, computation, group, &upcast)).collect()
}

/// The stacks of losses over classes.
pub fn in_loss(run: &Run<'_>) -> StackSet {
    run.stacks_of_operations(|operation| {
        matches!(operation, TorchOperation::CrossEntropy | TorchOperation::LogSoftmax)
    })
}

fn loss(run: &Run<'_>, computation: &Computation<'_>, group: &[AllocId], upcast: &StackSet) -> Option<Loss> {
    let is_batch = |id: AllocId| computation.depends_on_batch(id);
    let logarithms = group.iter().copied().filter(|&id| is_batch(id)).max_by_key(|&id| run.bytes(id))?;
    let bytes = run.bytes(logarithms);
    let has_size = |id: AllocId| {
        is_batch(id)
            && bytes <= run.bytes(id).saturating_mul(SIZE_PART)
            && run.bytes(id) <= bytes.saturating_mul(2)
    };
    let first = logarithms.0.saturating_sub(NEAR);
    let before = (first..logarithms.0).rev().map(AllocId).filter(|&id| has_size(id));
    let mut forward = vec![logarithms];
    for id in before {
        forward.push(id);
        if computation.is_product(id) {
            break;
        }
    }
    let logits = forward.last().copied().filter(|&id| id != logarithms)?;
    let is_largest = (first..logits.0).map(AllocId).all(|id| !is_batch(id) || run.bytes(id) <= bytes);
    let backward = gradients(run, computation, logits).into_iter().filter(|&id| has_size(id)).collect();
    let is_upcast = upcast.has(run.recording.stack(logarithms));
    is_largest.then_some(Loss { logarithms, forward, backward, is_upcast })
}

/// What the backward makes until it comes to what was there before the logits.
fn gradients(run: &Run<'_>, computation: &Computation<'_>, logits: AllocId) -> Vec<AllocId> {
    let lifetimes = &run.recording.lifetimes;
    let pass = lifetimes.start(logits).event().and_then(|event| computation.pass_at(event));
    let Some(pass) = pass else { return Vec::new() };
    let is_older = |id: AllocId| {
        id < logits && pass.events.start < lifetimes.start(id).0 && run.category(id) == Category::Activation
    };
    let older =
        (pass.backward..pass.events.end).find(|&event| computation.frees.at(event).is_some_and(is_older));
    let until = older.unwrap_or(pass.events.end);
    lifetimes.started_between(Moment(pass.backward), Moment(until)).collect()
}
