//! Copies of parameters at half their width, which autocast makes in the forward pass and keeps for the backward pass.

use super::place::{places, sum};
use crate::assessment::Assessment;
use crate::figure;
use crate::finding::Finding;
use crate::findings::FindingId;
use crate::sentence::say;
use oomscope_analysis::Category;
use oomscope_program::Dependence;
use oomscope_program::share::WORTH;

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let computation = &case.workload.computation;
    let mut copies = assessment.in_use(Category::Activation);
    copies.retain(|a| computation.dependence(a.id) == Dependence::WeightCopy);
    let bytes = sum(&copies);
    if !WORTH.is_reached(bytes, case.live_bytes()) {
        return Vec::new();
    }
    let title = say!(
        "Copies of parameters at half their width take {}, as autocast makes them",
        figure::bytes(bytes).of(case.live_bytes())
    );
    let mut finding = Finding::new(FindingId::AutocastCopies, case.severity_of(bytes), title);
    finding.explain("Autocast casts each weight when it is first used in a forward pass; the backward pass needs the copies, so all of them stay until then, beside the weights themselves.");
    finding.evidence.part("copy_bytes", "copies", bytes, case.live_bytes());
    finding.evidence.count("copies", "copies", copies.len());
    places(&mut finding, case, &copies);
    finding.advise_remedy(
        "bf16-model",
        "Keep the weights themselves at half width, if the optimizer supports it, and drop autocast; for inference, always:",
        "model = model.to(torch.bfloat16)",
    );
    finding.advise("Or checkpoint the blocks of the model: then copies are made again in the backward pass, block by block. FSDP with a MixedPrecision policy keeps only those of the block at work.");
    finding.weighs(bytes);
    finding.limit("Told by their sizes and by the products of matrices that they were made for.");
    vec![finding]
}
