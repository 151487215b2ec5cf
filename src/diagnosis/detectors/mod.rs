//! The detectors. Each answers one question, and finds nothing where there is nothing to say.

mod activations;
mod autocast_copies;
mod breakdown;
mod cache_churn;
mod contributors;
mod copies;
mod device_account;
mod evaluation;
mod gap;
mod gradients;
mod graphs;
mod host_memory;
mod ignored_settings;
mod large_block;
mod optimizer;
mod optimizers;
mod other_devices;
mod place;
mod prefetched;
mod private_pools;
mod quadratic;
mod recording;
mod retained;
mod rounding;
mod segment_waste;
mod waiting;

use super::assessment::Assessment;
use super::finding::Finding;

/// Looks at a case for one kind of finding.
type Detector = fn(&Assessment<'_>) -> Vec<Finding>;

/// Every detector. The order is kept among findings that matter equally.
pub(super) const DETECTORS: [Detector; 25] = [
    breakdown::find,
    contributors::find,
    retained::find,
    activations::find,
    copies::find,
    optimizer::find,
    optimizers::find,
    gradients::find,
    graphs::find,
    evaluation::find,
    autocast_copies::find,
    prefetched::find,
    quadratic::find,
    large_block::find,
    segment_waste::find,
    rounding::find,
    gap::find,
    waiting::find,
    cache_churn::find,
    private_pools::find,
    ignored_settings::find,
    host_memory::find,
    device_account::find,
    other_devices::find,
    recording::find,
];
