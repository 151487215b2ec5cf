//! Attention without its scores.

use crate::offer::{Effort, Offer, Part};
use crate::precondition::{Precondition, most};
use crate::scene::Scene;
use oomscope_model::AllocId;
use oomscope_simulator::Program;

/// `sdpa`, where attention is written out.
pub(crate) fn offer<'a>(scene: &'a Scene<'_>) -> Option<Offer<'a>> {
    let all = scene.workload().attention();
    if all.is_empty() {
        return None;
    }
    let change = move |program: &mut Program<'_>| {
        for attention in all {
            attention.scores.iter().chain(&attention.gradients).for_each(|&id| program.leave_out(id));
        }
    };
    let scores: Vec<AllocId> = all.iter().flat_map(|attention| attention.scores.iter().copied()).collect();
    let fact =
        format!("attention is written out: whole computations of it hold {} of scores", most(scene, &scores));
    let (title, kind) = ("compute attention without its scores", (Part::Attention, Effort::Lines));
    let offer = Offer::new("sdpa", title, kind, Precondition::of(scene, fact, &scores), change);
    Some(
        offer
            .code("y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p)\n# transformers: attn_implementation=\"sdpa\"")
            .cost("the same results but for rounding; mostly faster; attention weights cannot be looked at")
            .note("A mask that requires gradients, or a head size above 256, makes PyTorch write the scores out all the same."),
    )
}
