//! How much of the batch would fit.

use crate::diagnosis::assessment::Assessment;
use crate::diagnosis::batch_estimate::BatchEstimate;
use crate::diagnosis::figure;
use crate::diagnosis::finding::{Finding, Severity};
use crate::diagnosis::sentence::say;

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    assessment.batch.iter().map(fitting).collect()
}

fn fitting(estimate: &BatchEstimate) -> Finding {
    let title = say!("About {} of this batch should fit", figure::ratio(estimate.fitting_share));
    let mut finding = Finding::new("batch-size", Severity::Info, title);
    finding.explain(say!("An earlier iteration with {} of inputs peaked at {}, {} of which do not depend on the batch. In proportion, this one with {} of inputs would need {} more than those, and {} are available.", figure::bytes(estimate.earlier_input_bytes), figure::bytes(estimate.earlier_peak_bytes), figure::bytes(estimate.earlier_fixed_bytes).of(estimate.earlier_peak_bytes), figure::bytes(estimate.input_bytes), figure::bytes(estimate.needed_bytes), figure::bytes(estimate.room_bytes)));
    let evidence = &mut finding.evidence;
    evidence.bytes("input_bytes", "inputs of this iteration", estimate.input_bytes);
    evidence.bytes("earlier_input_bytes", "inputs of the earlier one", estimate.earlier_input_bytes);
    evidence.bytes("earlier_peak_bytes", "its peak", estimate.earlier_peak_bytes);
    evidence.bytes("fixed_bytes", "there whatever the batch", estimate.fixed_bytes);
    evidence.number("fitting_share", "of this batch should fit", figure::ratio(estimate.fitting_share));
    evidence.events.extend(estimate.earlier_peak.event());
    finding.advise(
        "Run such a part of the batch at a time, and add up the gradients of the parts before the step.",
    );
    finding.limit("Taken in proportion to the bytes of the inputs: right for a larger batch, too optimistic for a longer sequence where attention is quadratic. Room for holes is not counted.");
    finding
}
