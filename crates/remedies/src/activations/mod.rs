//! Remedies that change what a batch needs: its size, what is kept of it, and in which type.

pub(super) mod attention;
pub(super) mod batch;
mod batch_parts;
pub(super) mod bf16_autocast;
pub(super) mod bf16_model;
pub(super) mod checkpoint;
mod chosen;
pub(super) mod chunk_loss;
mod copied_back;
pub(super) mod evaluation;
mod largest_batch;
pub(super) mod memory_budget;
pub(super) mod save_on_cpu;
#[cfg(test)]
mod tests;
mod without_graph;

pub use batch::BatchEvents;
pub(super) use batch::{has_batch, scale_batch};
pub(super) use largest_batch::largest_batch;
