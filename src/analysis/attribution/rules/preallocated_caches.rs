//! Key/value caches that are set up before the first call: in a recording without training, one line in an
//! `__init__` makes equal blocks, one or two for each layer, after the parameters.

use crate::analysis::attribution::claims::{Blocks, Claims, Verdict};
use crate::analysis::attribution::facts::{Part, StackTrait};
use crate::analysis::attribution::view::View;
use crate::analysis::attribution::{Category, RuleId};
use crate::model::{AllocId, StackId};
use std::collections::BTreeMap;

/// Fewer equal blocks of one line may be anything.
const MIN_EQUAL: usize = 4;

/// Claim equal blocks as caches.
pub(super) fn claim(view: &View<'_>, claims: &mut Claims) {
    if view.device.has_backward() || view.device.calls.is_empty() {
        return;
    }
    let mut lines: BTreeMap<(StackId, i64), Vec<AllocId>> = BTreeMap::new();
    for id in after_parameters(view, claims) {
        let stack = view.stack(id);
        let facts = view.facts_of(stack);
        let Verdict { category, rule } = claims.verdict(id);
        let may_be_mistaken =
            rule == RuleId::Nothing || matches!(category, Category::Input | Category::Other);
        if may_be_mistaken && facts.has(StackTrait::InInit) && facts.part == Part::Main {
            lines.entry((stack, view.size(id))).or_default().push(id);
        }
    }
    // Keys and values may be made by two lines.
    let mut by_size: BTreeMap<i64, Vec<AllocId>> = BTreeMap::new();
    for ((_, size), ids) in lines.into_iter().filter(|(_, ids)| MIN_EQUAL <= ids.len()) {
        by_size.entry(size).or_default().extend(ids);
    }
    for (size, ids) in by_size {
        let blocks = Blocks { alike: ids.len(), known: ids.len(), known_as: Category::KvCache };
        for id in ids {
            let verdict = Verdict::new(Category::KvCache, RuleId::EqualBlocks);
            claims.claim_with_blocks(id, verdict, size, blocks);
        }
    }
}

/// The allocations after the last parameter that a module made and that stays.
fn after_parameters(view: &View<'_>, claims: &Claims) -> impl Iterator<Item = AllocId> + use<> {
    let is_parameter = |id: &AllocId| claims.is_by(*id, RuleId::ModuleLoad) && view.free_event(*id).is_none();
    let last = view.ids().rev().find(is_parameter);
    view.ids().skip(last.map_or(0, |id| id.index() + 1))
}
