//! Lines of the program's own that make blocks as large as parameters: copies, weights that are computed, and state of
//! an optimizer that is no part of torch.

use super::{Blocks, Category, Claims, RuleId, Verdict, View};
use crate::model::{AllocId, StackId};
use foldhash::{HashMap, HashSet};
use std::collections::BTreeMap;

/// So many different sizes are not those of parameters by chance.
const MIN_SIZES: usize = 3;

/// Rules whose verdicts are looked at again.
const KINDS: [RuleId; 5] = [
    RuleId::InputOfCall,
    RuleId::InputLikeOthers,
    RuleId::KeptBeforeCalls,
    RuleId::KeptOutside,
    RuleId::Nothing,
];

/// Look again at what was taken for a model's inputs, or for something that the program keeps.
pub(super) fn find(view: &View<'_>, claims: &mut Claims) {
    let parameters: HashMap<i64, usize> = count(view, claims);
    let mut lines: BTreeMap<(StackId, RuleId), Vec<AllocId>> = BTreeMap::new();
    for id in view.ids().skip(view.timeline.lifetimes.initial_count()) {
        let rule = claims.get(id).rule;
        if KINDS.contains(&rule) && view.stack(id) != StackId::EMPTY {
            // What a line makes is judged together, whether it is still there or not.
            let rule = if rule == RuleId::InputLikeOthers { RuleId::InputOfCall } else { rule };
            lines.entry((view.stack(id), rule)).or_default().push(id);
        }
    }
    for ((stack, rule), ids) in lines {
        let sizes: HashSet<i64> = ids.iter().map(|&id| view.size(id)).collect();
        if !sizes.iter().all(|size| parameters.contains_key(size)) {
            continue;
        }
        let verdict = match rule {
            RuleId::InputOfCall if MIN_SIZES <= sizes.len() => {
                // What a backward gives back was part of a graph.
                let has_graph = ids.iter().any(|&id| view.is_given_back_by_backward(id));
                let category = if has_graph { Category::Activation } else { Category::Parameter };
                Verdict::new(category, RuleId::ComputedWeights)
            }
            _ if MIN_SIZES <= sizes.len() && !view.places.get(stack).below_own_step => {
                Verdict::new(Category::Parameter, RuleId::CopyOfParameters)
            }
            RuleId::KeptOutside | RuleId::Nothing if view.places.get(stack).in_own_step => {
                Verdict::new(Category::OptimizerState, RuleId::KeptByOwnStep)
            }
            _ => continue,
        };
        let mut of_line: HashMap<i64, usize> = HashMap::default();
        for &id in &ids {
            *of_line.entry(view.size(id)).or_default() += 1;
        }
        for id in ids {
            let size = view.size(id);
            let known = parameters.get(&size).copied().unwrap_or_default();
            let alike = of_line.get(&size).copied().unwrap_or_default();
            let blocks = Blocks { alike, known, known_as: Category::Parameter };
            claims.claim_of(id, verdict, size, blocks);
        }
    }
}

/// How many parameters there are of each size.
fn count(view: &View<'_>, claims: &Claims) -> HashMap<i64, usize> {
    let mut out = HashMap::default();
    for id in view.ids().filter(|&id| claims.is(id, Category::Parameter)) {
        *out.entry(view.size(id)).or_default() += 1;
    }
    out
}
