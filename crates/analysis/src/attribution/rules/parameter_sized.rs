//! Lines of the program's own that make blocks as large as parameters: copies, weights that are computed, and state of
//! an optimizer that is no part of torch.

use crate::attribution::claims::{Blocks, Claims, Verdict};
use crate::attribution::facts::StackTrait;
use crate::attribution::thresholds::MIN_AGREEING;
use crate::attribution::view::View;
use crate::attribution::{Category, RuleId};
use oomscope_model::{AllocId, StackId};
use std::collections::BTreeMap;

/// The rules whose verdicts are looked at again: they took blocks for a model's inputs, or for something that the program
/// keeps.
const OPEN_TO_DOUBT: [RuleId; 5] = [
    RuleId::InputOfCall,
    RuleId::InputLikeOthers,
    RuleId::KeptBeforeCalls,
    RuleId::KeptOutside,
    RuleId::Nothing,
];

/// Claim lines all of whose blocks are as large as parameters.
pub(super) fn claim(view: &View<'_>, claims: &mut Claims) {
    let parameters = view.ids().filter(|&id| claims.is(id, Category::Parameter));
    let parameters = view.count_by_size(parameters);
    for ((stack, rule), ids) in doubtful_lines(view, claims) {
        let of_line = view.count_by_size(ids.iter().copied());
        if !of_line.keys().all(|size| parameters.contains_key(size)) {
            continue;
        }
        let has_many_sizes = MIN_AGREEING <= of_line.len();
        let Some(verdict) = verdict_on_line(view, stack, rule, &ids, has_many_sizes) else { continue };
        for id in ids {
            let size = view.size(id);
            let known = parameters.get(&size).copied().unwrap_or_default();
            let alike = of_line.get(&size).copied().unwrap_or_default();
            let blocks = Blocks { alike, known, known_as: Category::Parameter };
            claims.claim_with_blocks(id, verdict, size, blocks);
        }
    }
}

/// The allocations whose verdicts are open to doubt, by line and rule. All blocks of a line are judged together, whether
/// they are still there or not.
fn doubtful_lines(view: &View<'_>, claims: &Claims) -> BTreeMap<(StackId, RuleId), Vec<AllocId>> {
    let mut lines: BTreeMap<(StackId, RuleId), Vec<AllocId>> = BTreeMap::new();
    for (id, _) in view.new_ids() {
        let rule = claims.verdict(id).rule;
        if OPEN_TO_DOUBT.contains(&rule) && view.stack(id) != StackId::EMPTY {
            let rule = if rule == RuleId::InputLikeOthers { RuleId::InputOfCall } else { rule };
            lines.entry((view.stack(id), rule)).or_default().push(id);
        }
    }
    lines
}

fn verdict_on_line(
    view: &View<'_>,
    stack: StackId,
    rule: RuleId,
    ids: &[AllocId],
    has_many_sizes: bool,
) -> Option<Verdict> {
    match rule {
        RuleId::InputOfCall if has_many_sizes => {
            // Blocks that a backward frees were part of a graph.
            let has_graph = ids.iter().any(|&id| view.is_freed_by_backward(id));
            let category = if has_graph { Category::Activation } else { Category::Parameter };
            Some(Verdict::new(category, RuleId::ComputedWeights))
        }
        _ if has_many_sizes && !view.facts_of(stack).has(StackTrait::AnyNamedStep) => {
            Some(RuleId::CopyOfParameters.verdict())
        }
        RuleId::KeptOutside | RuleId::Nothing if view.facts_of(stack).has(StackTrait::InnermostNamedStep) => {
            Some(RuleId::KeptByOwnStep.verdict())
        }
        _ => None,
    }
}
