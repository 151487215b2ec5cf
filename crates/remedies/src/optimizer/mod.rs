//! Remedies that change the optimizer.

mod adam;
mod on_host;
mod sgd;

use super::offer::Offer;
use super::scene::Scene;
use oomscope_program::OptimizerFacts;

/// The ids of [`offers`].
pub(super) const IDS: &[&str] =
    &["sgd", "sgd-momentum", "adamw-fused", "adamw-foreach-false", "adamw-8bit", "offload-state"];

/// Other optimizers, and other ways to run the same one.
pub(super) fn offers<'a>(scene: &'a Scene<'_>) -> Vec<Offer<'a>> {
    let facts = OptimizerFacts::of(&scene.run);
    let others = [sgd::offers(scene, &facts), adam::offers(scene, &facts)].into_iter().flatten();
    others.chain(on_host::offer(scene, &facts)).collect()
}
