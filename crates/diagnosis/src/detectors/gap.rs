//! The gap between reserved and used memory, from iteration to iteration.

use crate::assessment::Assessment;
use crate::case::Case;
use crate::figure;
use crate::finding::{Finding, Severity};
use crate::findings::FindingId;
use crate::sentence::say;
use oomscope_model::{Bytes, Moment};
use oomscope_program::numbers::SEVERAL;
use oomscope_program::share::NOTABLE;

/// The moment at which an iteration uses most, and the bytes that are reserved and not in use then.
type Gap = (Moment, Bytes);

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let gaps: Vec<Gap> = gaps(case);
    // The first iteration warms up, so the second is compared.
    let (Some(&first), Some(&last)) = (gaps.get(1), gaps.last()) else { return Vec::new() };
    let grown = last.1 - first.1;
    let reserved = case.recording.reserved.at(last.0);
    if gaps.len() <= SEVERAL || !NOTABLE.is_reached(grown, reserved) {
        return Vec::new();
    }
    let title = say!("What is reserved and not in use grew by {}", figure::bytes(grown).of(reserved));
    let mut finding = Finding::new(FindingId::GrowingGap, Severity::Info, title);
    finding.explain("In each iteration, at the moment at which most is in use: the difference between what PyTorch reserved and what is in use. Where it grows, freed memory does not fit the requests that come next.");
    let evidence = &mut finding.evidence;
    evidence.bytes("first_gap_bytes", "in the second iteration", first.1);
    evidence.bytes("last_gap_bytes", "in the last iteration", last.1);
    let largest = gaps.iter().max_by_key(|gap| gap.1).copied().unwrap_or(last);
    evidence.bytes("largest_gap_bytes", "in the iteration where it is largest", largest.1);
    evidence.count("iterations", "iterations", gaps.len());
    evidence.events.extend([first, largest, last].iter().filter_map(|gap| gap.0.event()));
    evidence.events.dedup();
    finding.advise("Keep request sizes the same from iteration to iteration (pad to a few lengths), or compare allocator settings with oomscope simulate FILE --sweep.");
    finding.weighs(grown);
    finding.limit("The cache alone does not cause an OOM: it is given back before a request fails, as far as no block keeps it.");
    vec![finding]
}

/// The gaps of the iterations whose peak is over at the moment.
fn gaps(case: &Case<'_>) -> Vec<Gap> {
    let list = &case.phases().iterations.list;
    let over = list.iter().take_while(|iteration| iteration.peak <= case.moment);
    over.map(|iteration| {
        let reserved = case.recording.reserved.at(iteration.peak);
        (iteration.peak, reserved - iteration.peak_bytes)
    })
    .collect()
}
