//! `zero-grad-none`: gradients that are freed after each step instead of being kept through the next forward.

mod kept;
mod reappearing;

use super::offer::{Effort, Offer, Part};
use super::precondition::{Precondition, most};
use super::scene::Scene;
use kept::kept;
use oomscope_model::AllocId;
use oomscope_program::training_steps;
use reappearing::Reappearing;

/// `zero-grad-none`, where gradients are still there when the program goes on after a step.
pub(super) fn offers<'a>(scene: &'a Scene<'_>) -> Vec<Offer<'a>> {
    let steps = training_steps(&scene.run);
    let kept = kept(scene, &steps);
    if kept.is_empty() {
        return Vec::new();
    }
    let ids: Vec<AllocId> = kept.iter().map(|gradient| gradient.id).collect();
    let is_inferred = scene.run.are_inferred(&ids);
    let remade = Reappearing::of(scene, &steps, &kept);
    let fact = format!("{} of gradients are there when the program goes on after a step", most(scene, &ids));
    let precondition = Precondition::of(scene, fact, &ids);
    let (title, change) = ("free gradients right after each step", (Part::Gradients, Effort::Argument));
    let offer = Offer::new("zero-grad-none", title, change, precondition, move |program| {
        for gradient in &kept {
            gradient.free(program);
        }
        remade.make(program);
    });
    let offer = offer
        .code(
            "optimizer.step()\noptimizer.zero_grad(set_to_none=True)  # right here, before the next forward",
        )
        .cost("nothing: gradients are None between steps, which code that reads them has to allow for")
        .note("It saves gradients only where the peak lies between a step and the next backward.");
    vec![offer.inferred(is_inferred)]
}
