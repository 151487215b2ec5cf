//! Copies of weights in float32 that an optimizer updates, beside a model of half precision.

use super::place::{places, sum};
use crate::assessment::Assessment;
use crate::figure;
use crate::finding::Finding;
use crate::findings::FindingId;
use crate::sentence::{name, say};
use oomscope_program::MasterWeights;
use oomscope_program::share::WORTH;

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let Some(MasterWeights { blocks, optimizer, model, path, .. }) =
        case.workload.master_weights(case.moment)
    else {
        return Vec::new();
    };
    let blocks = case.among_live(&blocks);
    let bytes = sum(&blocks);
    if !WORTH.is_reached(bytes, case.live_bytes()) {
        return Vec::new();
    }
    let census = &case.recording.snapshot().census;
    let [optimizer, model] =
        [optimizer, model].map(|owner| name(census.text(census.owner(owner).class).to_owned()));
    let held = figure::bytes(bytes).of(case.live_bytes());
    let title = match path.as_str() {
        "" => say!("Master weights of {} in float32 take {}", model, held),
        path => say!("Master weights of {}.* in float32 take {}", name(path.to_owned()), held),
    };
    let mut finding = Finding::new(FindingId::MasterWeights, case.severity_of(bytes), title);
    finding.explain(say!("{} has its own copy of each weight in four bytes, beside the model's in two: it updates these, so that small steps are not lost.", optimizer));
    finding.evidence.part("master_bytes", "master weights", bytes, case.live_bytes());
    finding.evidence.count("masters", "master weights", blocks.len());
    places(&mut finding, case, &blocks);
    finding.advise("Shard them (FSDP, ZeRO), keep them on the CPU, or use an optimizer that rounds stochastically and needs none.");
    finding.weighs(bytes);
    finding.limit("Told by the program's own types and shapes: the optimizer alone has them, and each has the shape of a weight.");
    vec![finding]
}
