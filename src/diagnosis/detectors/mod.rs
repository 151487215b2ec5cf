//! The detectors. Each answers one question and says nothing where there is nothing to say.

mod activations;
mod batch;
mod breakdown;
mod cache_churn;
mod contributors;
mod evaluation;
mod gap;
mod growth;
mod host_memory;
mod optimizer;
mod private_pools;
mod recording;
mod rounding;
mod segment_waste;
mod waiting;

use super::{Context, Finding};

/// Looks at a recording and says what it finds.
type Detector = fn(&Context<'_>) -> Vec<Finding>;

/// Every detector. The order is kept among findings that matter equally.
pub(super) const DETECTORS: [Detector; 15] = [
    breakdown::find,
    contributors::find,
    growth::find,
    activations::find,
    optimizer::find,
    evaluation::find,
    batch::find,
    segment_waste::find,
    rounding::find,
    gap::find,
    waiting::find,
    cache_churn::find,
    private_pools::find,
    host_memory::find,
    recording::find,
];

/// Whether an earlier iteration tells which batch would fit.
pub(super) fn knows_batch(context: &Context<'_>) -> bool {
    !batch::find(context).is_empty()
}
