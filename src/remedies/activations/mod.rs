//! Remedies that change what a batch needs: its size, what is kept of it, and in which type.

mod attention;
mod batch;
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

/// The ids of all of them.
pub(super) const IDS: &[&str] = &[
    "eval-no-grad",
    "half-batch",
    "quarter-batch",
    "eighth-batch",
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
    let mut offers: Vec<Offer<'a>> = evaluation::offer(scene).into_iter().collect();
    offers.extend(checkpoint::offers(scene));
    offers.extend(attention::offer(scene));
    offers.extend(chunk_loss::offer(scene));
    offers.extend(save_on_cpu::offer(scene));
    offers.extend(memory_budget::offer(scene));
    offers.extend(bf16_autocast::offer(scene));
    offers.extend(bf16_model::offer(scene));
    offers.extend(batch::offers(scene));
    offers
}
