//! Remedies that change the optimizer.

mod adam;
mod sgd;

use super::offer::Offer;
use super::scene::Scene;
use crate::program::OptimizerFacts;

/// The ids of [`offers`].
pub(super) const IDS: &[&str] = &["sgd", "sgd-momentum", "adamw-fused", "adamw-foreach-false", "adamw-8bit"];

/// Other optimizers, and other ways to run the same one.
pub(super) fn offers<'a>(scene: &'a Scene<'_>) -> Vec<Offer<'a>> {
    let facts = OptimizerFacts::of(&scene.run);
    [sgd::offers(scene, &facts), adam::offers(scene, &facts)].into_iter().flatten().collect()
}
