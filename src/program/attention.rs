//! Attention: whether it is written out, so that its scores are in memory, or fused.

use super::computation::Computation;
use super::run::{Run, StackSet};
use crate::analysis::TorchOperation;
use crate::model::{AllocId, EventIx, Moment};

/// Between two linear layers, attention makes fewer allocations than this.
const NEAR: u32 = 48;

/// Scores, masked and scaled ones, their softmax: attention makes at least this many tensors of one size in a row.
const MIN_SCORES: usize = 2;

/// One computation of attention.
#[derive(Debug)]
pub struct Attention {
    /// Everything of the scores, in the forward.
    pub scores: Vec<AllocId>,
    /// Their size in bytes.
    pub bytes: u64,
    /// Their gradients.
    pub gradients: Vec<AllocId>,
}

/// Each computation of attention in the calls of models.
pub(super) fn find(computation: &Computation<'_>) -> Vec<Attention> {
    let run = &computation.run;
    let softmax = run.stacks_of_operations(|operation| operation == TorchOperation::Softmax);
    let named = run.stacks_with(|code| code.is_named_after_attention());
    let is_call = |id: &AllocId| computation.depends_on_batch(*id);
    let calls: Vec<AllocId> = run.timeline.ids().filter(is_call).collect();
    let is_product = |id: AllocId| computation.is_product(id);
    let between_products = calls.chunk_by(|&a, &b| !is_product(a) && !is_product(b));
    let between_products = between_products.filter(|run| run.len() <= NEAR as usize);
    between_products.filter_map(|group| attention(computation, group, (&softmax, &named))).collect()
}

/// The attention among what a call makes between two linear layers.
fn attention(
    computation: &Computation<'_>,
    group: &[AllocId],
    (softmax, named): (&StackSet, &StackSet),
) -> Option<Attention> {
    let run = &computation.run;
    let stack = |id: AllocId| run.timeline.stack(id);
    let by_softmax =
        group.iter().copied().filter(|&id| softmax.has(stack(id))).max_by_key(|&id| run.bytes(id));
    let by_name = || {
        let named = group.iter().copied().filter(|&id| named.has(stack(id)));
        let largest = named.max_by_key(|&id| (run.bytes(id), id))?;
        Some(largest)
    };
    let bytes = run.bytes(by_softmax.or_else(by_name)?);
    let is_score = |id: &AllocId| run.bytes(*id) == bytes;
    let first = group.iter().position(is_score)?;
    let last = group.iter().rposition(is_score)?;
    let count = group.iter().filter(|id| is_score(id)).count();
    // Softmax over something else has no product after it that is smaller.
    let is_reduced = group[last + 1..].iter().any(|&id| run.bytes(id) < bytes);
    if count < MIN_SCORES || !is_reduced {
        return None;
    }
    let scores = group[first..=last].to_vec();
    let gradients = gradients(computation, &scores, bytes);
    Some(Attention { scores, bytes, gradients })
}

/// What the backward makes of the size of scores while it goes through them.
fn gradients(computation: &Computation<'_>, scores: &[AllocId], bytes: u64) -> Vec<AllocId> {
    let run = &computation.run;
    let lifetimes = &run.timeline.lifetimes;
    let made = scores.first().and_then(|&id| lifetimes.start(id).event());
    let Some(pass) = made.and_then(|event| computation.pass_at(event)) else { return Vec::new() };
    let ends = || scores.iter().filter_map(|&id| lifetimes.end(id)?.event());
    let in_backward = || ends().filter(|end| pass.backward <= end.0);
    let (Some(first), Some(last)) = (in_backward().min(), in_backward().max()) else { return Vec::new() };
    let is_other = |event: &u32| {
        let id = computation.frees.at(*event);
        id.is_some_and(|id| {
            pass.events.start < lifetimes.start(id).0
                && lifetimes.start(id).0 <= pass.backward
                && !scores.contains(&id)
        })
    };
    let start = (pass.backward..first.0).rev().find(is_other).unwrap_or(pass.backward);
    let until = (last.0..pass.events.end).find(is_other).unwrap_or(pass.events.end);
    let made = lifetimes.started_between(Moment::after(EventIx(start)), Moment(until));
    made.filter(|&id| run.bytes(id) == bytes).collect()
}

/// Whether some frame of the recording is one of fused attention.
pub fn is_attention_fused(run: &Run<'_>) -> bool {
    run.has_frame(|code| code.is_fused_attention())
}
