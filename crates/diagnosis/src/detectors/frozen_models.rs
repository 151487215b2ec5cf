//! Models beside the one that is trained, none of whose parameters may have a gradient, and which are no copies of it: a teacher, an
//! encoder, a reward model.

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
use std::collections::BTreeSet;

/// Models that a finding names.
const MAX_MODELS: usize = 4;

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let all = case.workload.named_models(case.moment);
    if !all.iter().any(|model| model.is_trained) {
        return Vec::new();
    }
    let copies: Vec<_> = copies_of_trained(&all).map(|model| model.owner).collect();
    let copied: BTreeSet<AllocId> = case
        .workload
        .copy(case.moment, WORTH)
        .map_or_else(BTreeSet::new, |copy| copy.blocks.into_iter().collect());
    let is_other = |model: &&NamedModel<'_>| {
        model.is_frozen
            && !model.is_trained
            && copies.binary_search(&model.owner).is_err()
            && !model.blocks.iter().any(|block| copied.contains(block))
    };
    let mut others: Vec<&NamedModel<'_>> = all.iter().filter(is_other).collect();
    others.sort_by_key(|model| Reverse(model.bytes));
    let blocks: Vec<AllocId> = others.iter().flat_map(|model| model.blocks.iter().copied()).collect();
    let blocks = case.among_live(&blocks);
    let bytes = sum(&blocks);
    if !WORTH.is_reached(bytes, case.live_bytes()) {
        return Vec::new();
    }
    let census = &case.recording.snapshot().census;
    let class = |model: &NamedModel<'_>| name(model.class.to_owned());
    let held = figure::bytes(bytes).of(case.live_bytes());
    let title = match others.len() {
        1 => say!("{}, a model that is frozen, takes {}", class(others[0]), held),
        count => say!(
            "{} frozen models take {}, the largest of them {}",
            figure::count(count),
            held,
            class(others[0])
        ),
    };
    let mut finding = Finding::new(FindingId::FrozenModels, case.severity_of(bytes), title);
    for model in others.iter().take(MAX_MODELS) {
        let holder =
            census.owner(model.owner).holder.map(|_| say!(", held by {},", model_name(census, model.owner)));
        let bytes = figure::bytes(Bytes::of_size(model.bytes));
        finding.explain(say!(
            "{}{} takes {}: none of its parameters requires a gradient.",
            class(model),
            holder,
            bytes
        ));
    }
    finding.evidence.part("model_bytes", "weights of frozen models", bytes, case.live_bytes());
    finding.evidence.count("models", "models", others.len());
    places(&mut finding, case, &blocks);
    let is_wide = case.workload.has_wide_numbers(&blocks.iter().map(|block| block.id).collect::<Vec<_>>());
    let text = "Keep what is frozen in half precision, and call it under torch.no_grad().";
    match variable(census, others[0].owner).filter(|_| is_wide) {
        Some(variable) => finding.advise_code(text, "frozen.to(torch.bfloat16)".replace("frozen", variable)),
        None if is_wide => finding.advise(text),
        None => {}
    }
    finding.advise("Compute what it says about the data once, before training, and store it; or move it to the CPU while it is not called.");
    finding.weighs(bytes);
    finding.limit("The program said which modules it has, and which of their parameters require gradients.");
    vec![finding]
}
