//! The register of remedies, in the order in which those that are combined are applied: what leaves memory out comes
//! first, what changes sizes last. A remedy is one file and one row here, or in the file of its family.

use super::activations::{
    attention, batch, bf16_autocast, bf16_model, checkpoint, chunk_loss, evaluation, memory_budget,
    save_on_cpu,
};
use super::offer::Offer;
use super::scene::Scene;
use super::{copies, gradients, leaks, optimizer, places, settings};

/// A family of remedies that are found together.
pub(super) struct Family {
    /// The ids that it may offer; `N` and `NAME=VALUE` stand for others.
    pub(super) ids: &'static [&'static str],
    /// What it offers for a recording. An id that is not known to apply is not offered.
    pub(super) offers: for<'a> fn(&'a Scene<'_>) -> Vec<Offer<'a>>,
}

/// All families.
pub(super) const FAMILIES: &[Family] = &[
    Family { ids: &["detach"], offers: leaks::offers },
    Family { ids: &["no-copy"], offers: copies::offers },
    Family { ids: &["zero-grad-none"], offers: gradients::offers },
    Family { ids: &["eval-no-grad"], offers: |scene| evaluation::offer(scene).into_iter().collect() },
    Family {
        ids: &[
            "checkpoint-all",
            "checkpoint-half",
            "checkpoint-largest",
            "checkpoint-some",
            "checkpoint-policy",
        ],
        offers: checkpoint::offers,
    },
    Family { ids: &["sdpa"], offers: |scene| attention::offer(scene).into_iter().collect() },
    Family { ids: &["chunk-loss"], offers: |scene| chunk_loss::offer(scene).into_iter().collect() },
    Family { ids: &["save-on-cpu"], offers: |scene| save_on_cpu::offer(scene).into_iter().collect() },
    Family { ids: &["memory-budget"], offers: |scene| memory_budget::offer(scene).into_iter().collect() },
    Family { ids: &["bf16-autocast"], offers: |scene| bf16_autocast::offer(scene).into_iter().collect() },
    Family { ids: &["bf16-model"], offers: |scene| bf16_model::offer(scene).into_iter().collect() },
    Family { ids: &["half-batch", "quarter-batch", "eighth-batch", "micro-batch"], offers: batch::offers },
    Family { ids: optimizer::IDS, offers: optimizer::offers },
    Family { ids: &["shard-N", "shard-N-zero1", "shard-N-zero2"], offers: places::shard },
    Family { ids: &[settings::ID], offers: settings::offers },
];
