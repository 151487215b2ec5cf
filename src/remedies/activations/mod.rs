//! Remedies that change what a batch needs: its size, what is kept of it, and in which type.

mod attention;
mod batch;
mod bf16_autocast;
mod bf16_model;
mod checkpoint;
mod chunk_loss;
mod evaluation;
mod largest_batch;
mod loss;
mod number_types;
#[cfg(test)]
mod tests;

pub(super) use largest_batch::largest_batch;

use super::offer::Offer;
use super::scene::Scene;
use super::training::Training;
use number_types::NumberTypes;
use std::sync::Arc;

/// The ids of all of them.
pub(super) const IDS: &[&str] = &[
    "eval-no-grad",
    "half-batch",
    "quarter-batch",
    "checkpoint-all",
    "checkpoint-half",
    "checkpoint-largest",
    "bf16-model",
    "bf16-autocast",
    "chunk-loss",
    "sdpa",
];

/// What applies to a recording.
pub(super) fn offers<'a>(scene: &'a Scene<'a>) -> Vec<Offer<'a>> {
    let training = Arc::new(Training::of(scene));
    let mut offers: Vec<Offer<'a>> = evaluation::offer(scene, &training).into_iter().collect();
    offers.extend(checkpoint::offers(scene, &training));
    let types = Arc::new(NumberTypes::of(scene, &training));
    offers.extend(attention::offer(scene, &training));
    offers.extend(chunk_loss::offer(scene, &training));
    offers.extend(bf16_autocast::offer(scene, &training, &types));
    offers.extend(bf16_model::offer(scene, &training, &types));
    offers.extend(batch::offers(scene, &training));
    offers
}
