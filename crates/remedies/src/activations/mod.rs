//! Remedies that change what a batch needs: its size, what is kept of it, and in which type.

mod attention;
mod batch;
mod batch_parts;
mod bf16_autocast;
mod bf16_model;
mod checkpoint;
mod chosen;
mod chunk_loss;
mod copied_back;
mod evaluation;
mod largest_batch;
mod memory_budget;
mod save_on_cpu;
#[cfg(test)]
mod tests;
mod without_graph;

pub(super) use largest_batch::largest_batch;

use super::offer::Offer;
use super::scene::Scene;
use rayon::prelude::*;

/// The ids of all of them.
pub(super) const IDS: &[&str] = &[
    "eval-no-grad",
    "half-batch",
    "quarter-batch",
    "eighth-batch",
    "micro-batch",
    "checkpoint-all",
    "checkpoint-half",
    "checkpoint-largest",
    "checkpoint-some",
    "checkpoint-policy",
    "save-on-cpu",
    "memory-budget",
    "bf16-model",
    "bf16-autocast",
    "chunk-loss",
    "sdpa",
];

/// What applies to a recording.
pub(super) fn offers<'a>(scene: &'a Scene<'_>) -> Vec<Offer<'a>> {
    OFFERS.into_par_iter().map(|offers| offers(scene)).flatten_iter().collect()
}

/// Offers of one kind.
type OffersOf = for<'a> fn(&'a Scene<'_>) -> Vec<Offer<'a>>;

/// What makes them, in the order in which they are applied.
const OFFERS: [OffersOf; 9] = [
    |scene| evaluation::offer(scene).into_iter().collect(),
    checkpoint::offers,
    |scene| attention::offer(scene).into_iter().collect(),
    |scene| chunk_loss::offer(scene).into_iter().collect(),
    |scene| save_on_cpu::offer(scene).into_iter().collect(),
    |scene| memory_budget::offer(scene).into_iter().collect(),
    |scene| bf16_autocast::offer(scene).into_iter().collect(),
    |scene| bf16_model::offer(scene).into_iter().collect(),
    batch::offers,
];
