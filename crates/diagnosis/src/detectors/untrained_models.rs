//! Models beside the one that is trained, which are no copies of it: a teacher, an encoder, a reward model.

use super::place::{model_name, places, sum, variable};
use crate::assessment::Assessment;
use crate::figure;
use crate::finding::Finding;
use crate::findings::FindingId;
use crate::sentence::{name, say};
use oomscope_model::{AllocId, Bytes};
use oomscope_program::share::WORTH;
use oomscope_program::{NamedModel, copies_of_trained};
use std::cmp::Reverse;

/// Models that a finding names.
const MAX_MODELS: usize = 4;

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let all = case.workload.named_models(case.moment);
    if !all.iter().any(|model| model.is_trained) {
        return Vec::new();
    }
    let copies: Vec<_> = copies_of_trained(&all).map(|model| model.owner).collect();
    let is_other = |model: &&NamedModel| !model.is_trained && copies.binary_search(&model.owner).is_err();
    let mut others: Vec<&NamedModel> = all.iter().filter(is_other).collect();
    others.sort_by_key(|model| Reverse(model.bytes));
    let blocks: Vec<AllocId> = others.iter().flat_map(|model| model.blocks.iter().copied()).collect();
    let blocks = case.among_live(&blocks);
    let bytes = sum(&blocks);
    if !WORTH.is_reached(bytes, case.live_bytes()) {
        return Vec::new();
    }
    let census = &case.recording.snapshot().census;
    let class = |model: &NamedModel| name(census.text(census.owner(model.owner).class).to_owned());
    let (largest, held) = (class(others[0]), figure::bytes(bytes).of(case.live_bytes()));
    let title = match others.len() {
        1 => say!("A {} that is not trained takes {}", largest, held),
        count => say!(
            "{} models that are not trained take {}, the largest a {}",
            figure::count(count),
            held,
            largest
        ),
    };
    let mut finding = Finding::new(FindingId::UntrainedModels, case.severity_of(bytes), title);
    for model in others.iter().take(MAX_MODELS) {
        finding.explain(say!(
            "{}, held by {}, takes {}; no optimizer has one of its parameters.",
            class(model),
            model_name(census, model.owner),
            figure::bytes(Bytes::of_size(model.bytes))
        ));
    }
    finding.evidence.part("model_bytes", "weights of models that are not trained", bytes, case.live_bytes());
    finding.evidence.count("models", "models", others.len());
    places(&mut finding, case, &blocks);
    let is_wide = case.workload.has_wide_numbers(&blocks.iter().map(|block| block.id).collect::<Vec<_>>());
    if is_wide {
        let largest = variable(census, others[0].owner).unwrap_or("model");
        finding.advise_code(
            "Keep what is not trained in half precision, and call it under torch.no_grad():",
            "largest.to(torch.bfloat16).requires_grad_(False)".replace("largest", largest),
        );
    }
    finding.advise("Compute what it says about the data once, before training, and store it; or move it to the CPU while it is not called.");
    finding.weighs(bytes);
    finding.limit("The program said which modules it has, and which parameters its optimizers have.");
    vec![finding]
}
