//! A budget for what compiled code keeps for the backward.

use super::copied_back::{has_backward_that_lets_go, kept_for_backward};
use crate::offer::{Effort, Offer, Part};
use crate::precondition::{Precondition, most};
use crate::price::Price;
use crate::scene::Scene;
use oomscope_model::AllocId;

/// The share of it that the code which is shown asks for.
const BUDGET: f64 = 0.5;

/// `memory-budget`, where compiled code keeps something for a backward that is compiled with it.
pub(crate) fn offer<'a>(scene: &'a Scene<'_>) -> Option<Offer<'a>> {
    // Frames are asked last, since a file may have many.
    if !has_backward_that_lets_go(scene) {
        return None;
    }
    let compiled = scene.run.stacks_with(|code| code.runs_compiled_graph());
    let is_compiled = |id: &AllocId| compiled.has(scene.run.recording.stack(*id));
    let passes = scene.computation().spans.passes();
    let mut kept: Vec<AllocId> =
        passes.flat_map(|pass| kept_for_backward(scene, pass)).filter(is_compiled).collect();
    if kept.is_empty() {
        return None;
    }
    kept.sort_unstable();
    let fact = format!("compiled code keeps {} for its backward", most(scene, &kept));
    let precondition = Precondition::of_call(scene, fact, &kept);
    let (title, kind) =
        ("let compiled code keep half as much for the backward", (Part::Checkpoints, Effort::Time));
    let offer = Offer::new("memory-budget", title, kind, precondition, move |program| {
        for &id in &kept {
            program.scale(id, BUDGET);
        }
    });
    Some(
        offer
            .code(format!(
                "import torch._functorch.config  # before the model is compiled\n\
                 torch._functorch.config.activation_memory_budget = {BUDGET}"
            ))
            // What is computed again is chosen by the compiler: of the forward, no more than all.
            .price(Price::of_unknown_work(scene.workload().work().of_forward(1.0)))
            .cost("it compiles anew, and computes a part of the forward a second time, what is cheapest first: at most all of it")
            .note("A bound: the compiler may keep more than its budget, and what it computes again comes on top.")
            .bound(),
    )
}
