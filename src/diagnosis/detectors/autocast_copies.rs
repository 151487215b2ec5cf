//! Copies of parameters at half their width, which autocast makes in the forward pass and keeps for the backward pass.

use super::place::{places, sum};
use crate::analysis::Category;
use crate::diagnosis::assessment::Assessment;
use crate::diagnosis::figure;
use crate::diagnosis::finding::Finding;
use crate::diagnosis::findings::FindingId;
use crate::diagnosis::numbers::SEVERAL;
use crate::diagnosis::sentence::say;
use crate::diagnosis::share::WORTH;
use crate::model::Allocation;
use std::collections::BTreeMap;

/// Parameters below this many bytes, such as biases, have the size of too much else.
pub(super) const MIN_PARAMETER_BYTES: i64 = 1 << 20;

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let mut parameters: BTreeMap<i64, usize> = BTreeMap::new();
    for a in case.live.iter().filter(|a| MIN_PARAMETER_BYTES <= a.size) {
        if case.category(a.id) == Category::Parameter {
            *parameters.entry(a.size).or_default() += 1;
        }
    }
    let mut halves: BTreeMap<i64, Vec<&Allocation>> = BTreeMap::new();
    for a in assessment.in_use(Category::Activation) {
        if parameters.contains_key(&a.size.saturating_mul(2)) && !parameters.contains_key(&a.size) {
            halves.entry(a.size).or_default().push(a);
        }
    }
    // There is at most one copy of each parameter: more blocks of one size are something else.
    halves
        .retain(|size, blocks| blocks.len() <= parameters.get(&size.saturating_mul(2)).copied().unwrap_or(0));
    let copies: Vec<&Allocation> = halves.into_values().flatten().collect();
    let bytes = sum(&copies);
    if copies.len() < SEVERAL || !WORTH.is_reached(bytes, case.live_bytes()) {
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
    finding.limit("Told by sizes alone: a recording has no dtypes.");
    vec![finding]
}
