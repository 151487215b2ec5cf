//! How much of the batch would fit.

use crate::diagnosis::assessment::Assessment;
use crate::diagnosis::batch_estimate::BatchEstimate;
use crate::diagnosis::finding::{Finding, Severity};
use crate::units;

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    assessment.batch.iter().map(fitting).collect()
}

fn fitting(estimate: &BatchEstimate) -> Finding {
    let title = format!("About {:.0} % of this batch should fit", estimate.fitting_share * 100.0);
    let mut finding = Finding::new("batch-size", Severity::Info, title);
    finding.explain(format!(
        "An earlier iteration with {} of inputs peaked at {}, {} of which do not depend on the batch. In proportion, this one with {} of inputs would need {} more than those, and {} are available.",
        units::bytes(estimate.earlier_input_bytes),
        units::bytes(estimate.earlier_peak_bytes),
        units::bytes(estimate.earlier_fixed_bytes),
        units::bytes(estimate.input_bytes),
        units::bytes(estimate.needed_bytes),
        units::bytes(estimate.room_bytes)
    ));
    let evidence = &mut finding.evidence;
    evidence.bytes("input_bytes", "inputs of this iteration", estimate.input_bytes);
    evidence.bytes("earlier_input_bytes", "inputs of the earlier one", estimate.earlier_input_bytes);
    evidence.bytes("earlier_peak_bytes", "its peak", estimate.earlier_peak_bytes);
    evidence.bytes("fixed_bytes", "there whatever the batch", estimate.fixed_bytes);
    evidence.share("fitting_share", "of this batch should fit", estimate.fitting_share);
    evidence.events.extend(estimate.earlier_peak.event());
    finding.limit("Taken in proportion to the bytes of the inputs: right for a larger batch, too optimistic for a longer sequence where attention is quadratic. Room for holes is not counted.");
    finding
}
