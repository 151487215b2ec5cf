//! `zero-grad-none`: gradients that are freed after each step instead of being kept through the next forward.

mod reappearing;

use super::offer::{Effort, Offer, Part};
use super::passes::{Pass, passes};
use super::scene::Scene;
use crate::analysis::Category;
use crate::model::AllocId;
use crate::simulator::{Point, Program};
use reappearing::Reappearing;

/// `zero-grad-none`, where gradients are still there when the program goes on after a step.
pub(super) fn offers<'a>(scene: &'a Scene<'a>) -> Vec<Offer<'a>> {
    let passes = passes(scene);
    let kept = kept(scene, &passes);
    if kept.is_empty() {
        return Vec::new();
    }
    let ids: Vec<AllocId> = kept.iter().map(|gradient| gradient.id).collect();
    let is_inferred = scene.are_inferred(&ids);
    let remade = Reappearing::of(scene, &passes, &kept);
    let change = (Part::Gradients, Effort::Argument);
    let offer =
        Offer::new("zero-grad-none", "free gradients right after each step", change, move |program| {
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
        .note("It saves gradients only where the peak lies between a step and the next backward.")
        .error(0.02);
    vec![offer.inferred(is_inferred)]
}

/// A gradient that is there after a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    id: AllocId,
    /// The pass after which it is freed.
    pass: usize,
    freed: Point,
}

impl Kept {
    fn free(&self, program: &mut Program<'_>) {
        program.free_at(self.id, self.freed);
    }
}

/// The gradients that are there when the program goes on after a step, each with the first such pass.
fn kept(scene: &Scene<'_>, passes: &[Pass]) -> Vec<Kept> {
    let lifetimes = &scene.timeline.lifetimes;
    let mut out: Vec<Kept> = Vec::new();
    for id in scene.of_category(Category::Gradient) {
        let (start, end) = (lifetimes.start(id), lifetimes.end(id));
        let after = passes.partition_point(|pass| pass.over.is_none_or(|over| over.0 < start.0));
        // Those that are freed before the program goes on are freed in time.
        let Some((pass, over)) = passes.get(after).and_then(|pass| Some((after, pass.over?))) else {
            continue;
        };
        if end.is_none_or(|end| over.0 + 1 < end.0) {
            out.push(Kept { id, pass, freed: Point::before(over, 0) });
        }
    }
    out
}
