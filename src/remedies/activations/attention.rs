//! Attention without its scores.

use crate::analysis::TorchOperation;
use crate::model::{AllocId, EventIx, Moment};
use crate::remedies::offer::{Effort, Offer, Part};
use crate::remedies::scene::{Scene, StackSet};
use crate::remedies::training::{Role, Training};
use crate::simulator::Program;
use std::sync::Arc;

/// Between two linear layers, attention makes fewer allocations than this.
const NEAR: u32 = 48;

/// Scores, masked and scaled ones, their softmax: attention makes at least this many tensors of one size in a row.
const MIN_SCORES: usize = 2;

/// One computation of attention.
#[derive(Debug)]
pub(super) struct Attention {
    /// Everything of the scores, in the forward.
    pub(super) scores: Vec<AllocId>,
    /// Their size in bytes.
    pub(super) bytes: u64,
    /// Their gradients.
    gradients: Vec<AllocId>,
}

/// `sdpa`, where attention is written out.
pub(super) fn offer<'a>(scene: &'a Scene<'a>, training: &Arc<Training>) -> Option<Offer<'a>> {
    let all = find(scene, training);
    if all.is_empty() {
        return None;
    }
    let change = move |program: &mut Program<'_>| {
        for attention in &all {
            attention.scores.iter().chain(&attention.gradients).for_each(|&id| program.leave_out(id));
        }
    };
    let offer =
        Offer::new("sdpa", "compute attention without its scores", (Part::Attention, Effort::Lines), change);
    Some(
        offer
            .code("y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p)\n# transformers: attn_implementation=\"sdpa\"")
            .cost("the same results but for rounding; mostly faster; attention weights cannot be looked at")
            .error(0.02)
            .note("A mask that requires gradients, or a head size above 256, makes PyTorch write the scores out all the same."),
    )
}

/// Each computation of attention in the calls of models.
pub(super) fn find(scene: &Scene<'_>, training: &Training) -> Vec<Attention> {
    let softmax = scene.stacks_that(|operation| operation == TorchOperation::Softmax);
    let named = scene.stacks_with(|file, name| {
        let is_torch = file.contains("torch/nn/");
        let has =
            |text: &str| ["attn", "attention"].iter().any(|word| text.to_ascii_lowercase().contains(word));
        !is_torch && (has(name) || has(file.rsplit('/').next().unwrap_or(file)))
    });
    let is_call = |id: &AllocId| matches!(training.role(*id), Role::Batch | Role::EvalBatch);
    let calls: Vec<AllocId> = scene.timeline.ids().filter(is_call).collect();
    let is_product = |id: AllocId| training.is_product(scene, id);
    let between_products = calls.chunk_by(|&a, &b| !is_product(a) && !is_product(b));
    let between_products = between_products.filter(|run| run.len() <= NEAR as usize);
    between_products.filter_map(|run| attention(scene, training, run, (&softmax, &named))).collect()
}

/// The attention among what a call makes between two linear layers.
fn attention(
    scene: &Scene<'_>,
    training: &Training,
    run: &[AllocId],
    (softmax, named): (&StackSet, &StackSet),
) -> Option<Attention> {
    let stack = |id: AllocId| scene.timeline.stack(id);
    let by_softmax =
        run.iter().copied().filter(|&id| softmax.has(stack(id))).max_by_key(|&id| scene.bytes(id));
    let by_name = || {
        let named = run.iter().copied().filter(|&id| named.has(stack(id)));
        let largest = named.max_by_key(|&id| (scene.bytes(id), id))?;
        Some(largest)
    };
    let bytes = scene.bytes(by_softmax.or_else(by_name)?);
    let is_score = |id: &AllocId| scene.bytes(*id) == bytes;
    let first = run.iter().position(is_score)?;
    let last = run.iter().rposition(is_score)?;
    let count = run.iter().filter(|id| is_score(id)).count();
    // Softmax over something else has no product after it that is smaller.
    let is_reduced = run[last + 1..].iter().any(|&id| scene.bytes(id) < bytes);
    if count < MIN_SCORES || !is_reduced {
        return None;
    }
    let scores = run[first..=last].to_vec();
    let gradients = gradients(scene, training, &scores, bytes);
    Some(Attention { scores, bytes, gradients })
}

/// What the backward makes of the size of scores while it goes through them.
fn gradients(scene: &Scene<'_>, training: &Training, scores: &[AllocId], bytes: u64) -> Vec<AllocId> {
    let lifetimes = &scene.timeline.lifetimes;
    let made = scores.first().and_then(|&id| lifetimes.start(id).event());
    let Some(pass) = made.and_then(|event| training.pass_at(event)) else { return Vec::new() };
    let ends = || scores.iter().filter_map(|&id| lifetimes.end(id)?.event());
    let in_backward = || ends().filter(|end| pass.backward <= end.0);
    let (Some(first), Some(last)) = (in_backward().min(), in_backward().max()) else { return Vec::new() };
    let is_other = |event: &u32| {
        let id = training.frees.at(*event);
        id.is_some_and(|id| {
            pass.events.start < lifetimes.start(id).0
                && lifetimes.start(id).0 <= pass.backward
                && !scores.contains(&id)
        })
    };
    let start = (pass.backward..first.0).rev().find(is_other).unwrap_or(pass.backward);
    let until = (last.0..pass.events.end).find(is_other).unwrap_or(pass.events.end);
    let made = lifetimes.started_between(Moment::after(EventIx(start)), Moment(until));
    made.filter(|&id| scene.bytes(id) == bytes).collect()
}
