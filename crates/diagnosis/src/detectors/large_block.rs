//! One block that takes half of the device.

use super::place::places;
use crate::assessment::Assessment;
use crate::case::Shortage;
use crate::figure;
use crate::finding::Finding;
use crate::findings::FindingId;
use crate::sentence::say;
use oomscope_program::share::MOST;

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let available = case.shortage.as_ref().and_then(Shortage::available_bytes).or(case.device_memory);
    let Some((block, available)) = case.live.first().zip(available) else { return Vec::new() };
    if !MOST.is_reached(block.size, available) || available < block.size {
        return Vec::new();
    }
    let title = say!(
        "One block takes {} of the {} that PyTorch could have",
        figure::bytes(block.size).of(available),
        figure::bytes(available)
    );
    let mut finding = Finding::new(FindingId::LargeBlock, case.severity_of(block.size), title);
    finding.evidence.part("block_bytes", "the block", block.size, available);
    places(&mut finding, case, &[block]);
    finding.explain("Nothing as large fits beside it, so it cannot be copied, converted or extended: each of these needs the old and the new one at once.");
    finding.advise("Hold it in parts, in a lower precision or on the CPU; allocate it once at its final size, and write into it in place.");
    finding.weighs(block.size);
    vec![finding]
}
