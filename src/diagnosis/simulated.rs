//! Which remedies simulate what findings advise. An estimate beside a simulation of the same change would be a second answer,
//! so such a finding names the remedies instead.

use super::finding::Finding;

/// What lowers the activations of a training step.
const LESS_ACTIVATIONS: &[&str] =
    &["checkpoint-all", "checkpoint-half", "checkpoint-largest", "bf16-autocast", "half-batch"];

/// What frees gradients after each step.
const FREED_GRADIENTS: &[&str] = &["zero-grad-none"];

/// What leaves out a second copy of the weights.
const NO_COPY: &[&str] = &["no-copy"];

/// What closes holes.
const FEWER_HOLES: &[&str] = &["set:NAME=VALUE"];

/// What lets go of graphs and of memory of earlier iterations.
const LET_GO: &[&str] = &["detach", "eval-no-grad"];

/// The kinds of findings whose advice remedies simulate, with the ids of these. It is a property of the kind alone: whether
/// a report was made with or without simulating, it says the same.
const SIMULATED: [(&str, &[&str]); 20] = [
    ("activations", LESS_ACTIVATIONS),
    ("attention-scores", &["sdpa"]),
    ("autocast-copies", &["bf16-model", "checkpoint-all"]),
    ("calls-before-backward", LET_GO),
    ("evaluation-graph", &["eval-no-grad"]),
    ("fragmentation", FEWER_HOLES),
    ("gradients-kept", FREED_GRADIENTS),
    ("gradients-not-zeroed", FREED_GRADIENTS),
    ("growing-gap", FEWER_HOLES),
    ("large-block", &["bf16-model"]),
    ("leak", LET_GO),
    ("memory-growth", LET_GO),
    ("optimizer-state", &["adamw-8bit", "sgd", "sgd-momentum", "offload-state", "shard-N"]),
    ("optimizer-temporaries", &["adamw-fused", "adamw-foreach-false"]),
    ("quadratic-length", &["sdpa"]),
    ("same-parameters-twice", NO_COPY),
    ("second-model", NO_COPY),
    ("single-request", &["sdpa", "chunk-loss", "half-batch"]),
    ("training-resident", FREED_GRADIENTS),
    ("two-graphs", LET_GO),
];

impl Finding {
    /// The ids of the remedies that simulate its advice where they apply; `NAME=VALUE` and `N` stand for others.
    pub fn simulated_by(&self) -> &'static [&'static str] {
        SIMULATED.iter().find(|(id, _)| *id == self.id).map_or(&[], |(_, remedies)| remedies)
    }
}
