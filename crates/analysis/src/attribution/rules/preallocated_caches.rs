//! Key/value caches that are set up before the first call: in a recording without training, one line in an
//! `__init__` makes equal blocks, one or two for each layer, after the parameters.

use crate::attribution::claims::{Blocks, Claims, Verdict};
use crate::attribution::facts::{CodePart, StackTrait};
use crate::attribution::thresholds::MIN_LAYERS;
use crate::attribution::view::View;
use crate::attribution::{Category, RuleId};
use oomscope_model::{AllocId, Bytes, StackId};
use std::collections::BTreeMap;

/// Claim equal blocks as caches.
pub(super) fn claim(view: &View<'_>, claims: &mut Claims) {
    if view.device.has_backward() || view.device.calls.is_empty() {
        return;
    }
    let mut lines: BTreeMap<(StackId, Bytes), Vec<AllocId>> = BTreeMap::new();
    for id in after_parameters(view, claims) {
        let stack = view.stack(id);
        let facts = view.facts_of(stack);
        let Verdict { category, rule } = claims.verdict(id);
        let may_be_mistaken = matches!(rule, RuleId::Nothing | RuleId::WeightCode)
            || matches!(category, Category::Input | Category::Other);
        if may_be_mistaken && facts.has(StackTrait::InInit) && facts.part == CodePart::Main {
            lines.entry((stack, view.size(id))).or_default().push(id);
        }
    }
    // Keys and values may be made by two lines.
    let mut by_size: BTreeMap<Bytes, Vec<AllocId>> = BTreeMap::new();
    for ((_, size), ids) in lines.into_iter().filter(|(_, ids)| MIN_LAYERS <= ids.len()) {
        by_size.entry(size).or_default().extend(ids);
    }
    for (size, ids) in by_size {
        let blocks = Blocks { alike: ids.len(), known: ids.len(), known_as: Category::KvCache };
        for id in ids {
            let verdict = RuleId::EqualBlocks.verdict();
            claims.claim_with_blocks(id, verdict, size, blocks);
        }
    }
}

/// The allocations after the last parameter that a module, or a line of the program's own that makes several sizes, made and
/// that stays; none where the program has neither.
fn after_parameters(view: &View<'_>, claims: &Claims) -> impl Iterator<Item = AllocId> + use<> {
    let mut of_weights = view.ids().filter(|&id| claims.is_by(id, RuleId::WeightCode)).peekable();
    let has_weights = of_weights.peek().is_some();
    let makes_several = view.stacks_of_several_sizes(of_weights);
    let is_parameter = |id: &AllocId| match claims.verdict(*id).rule {
        RuleId::ModuleLoad => view.free_event(*id).is_none(),
        RuleId::WeightCode => makes_several.contains(&view.stack(*id)),
        _ => false,
    };
    let last = view.ids().rev().find(is_parameter);
    view.ids().skip(last.map_or(if has_weights { usize::MAX } else { 0 }, |id| id.index() + 1))
}
