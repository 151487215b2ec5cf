//! Parameters that were not made as parts of modules, found by the gradients that they have.

use super::gradient_sizes::lasting_gradients;
use crate::attribution::claims::{Blocks, Claims, Verdict};
use crate::attribution::facts::{CodePart, StackTrait};
use crate::attribution::view::{CountBySize, View};
use crate::attribution::{Category, RuleId};
use oomscope_model::AllocId;

/// Look again at what the program's own code made before the first backward.
pub(super) fn claim(view: &View<'_>, claims: &mut Claims) {
    let backward = view.device.backward_spans.first_event();
    let limit = backward.or_else(|| view.device.calls.first().map(|call| call.start));
    let Some(limit) = limit else { return };
    let gradients = backward.map(|_| lasting_gradients(view, claims)).unwrap_or_default();
    let mut wanted = gradients.clone();
    let has_known = take_known_parameters(view, claims, limit, &mut wanted);
    // Where modules are called but none shows its parameters, an `__init__` of the program makes them.
    let inits_make_parameters = !has_known && !view.device.calls.is_empty();
    for id in early_own_blocks(view, claims, limit, &gradients) {
        let (size, facts) = (view.size(id), view.facts_of(view.stack(id)));
        if let Some(left) = wanted.get_mut(&size).filter(|left| 0 < **left) {
            *left -= 1;
            let known = gradients.get(&size).copied().unwrap_or_default();
            let blocks = Blocks { alike: known, known, known_as: Category::Gradient };
            let verdict = RuleId::HasGradient.verdict();
            claims.claim_with_blocks(id, verdict, size, blocks);
        } else if facts.has(StackTrait::InitOnDevice)
            || (facts.has(StackTrait::InInit) && inits_make_parameters)
        {
            claims.claim(id, RuleId::InitOnDevice.verdict());
        }
    }
}

/// Take the gradients of known parameters out of the wanted ones; old blocks that nothing explains may be parameters, too.
/// Returns whether any parameter is known.
fn take_known_parameters(view: &View<'_>, claims: &Claims, limit: u32, wanted: &mut CountBySize) -> bool {
    let mut has_known = false;
    for id in view.ids() {
        let may_be_old = view.is_old(id) && claims.is(id, Category::Unknown);
        let is_known = claims.is(id, Category::Parameter) && view.is_live_until(id, limit);
        has_known |= is_known;
        if (may_be_old || is_known)
            && let Some(count) = wanted.get_mut(&view.size(id))
        {
            *count = count.saturating_sub(1);
        }
    }
    has_known
}

/// The blocks that the program's own code made before an event and kept beyond it, as far as their verdicts may be
/// mistaken. A block that looks like an input is one, unless its line makes several of the wanted sizes.
fn early_own_blocks(view: &View<'_>, claims: &Claims, limit: u32, wanted: &CountBySize) -> Vec<AllocId> {
    let of_own_code =
        |id: AllocId| matches!(view.facts_of(view.stack(id)).part, CodePart::Main | CodePart::Restore);
    let early = view.new_ids().take_while(|&(_, made)| made.0 < limit).map(|(id, _)| id);
    let early: Vec<AllocId> = early.filter(|&id| of_own_code(id) && view.is_live_until(id, limit)).collect();
    let of_wanted_size = early.iter().copied().filter(|&id| wanted.contains_key(&view.size(id)));
    let makes_many = view.stacks_of_several_sizes(of_wanted_size);
    let may_be_mistaken = |id: AllocId| {
        let Verdict { category, rule } = claims.verdict(id);
        match rule {
            RuleId::Nothing => true,
            RuleId::InputOfCall | RuleId::InputLikeOthers => makes_many.contains(&view.stack(id)),
            _ => matches!(category, Category::Input | Category::Other | Category::Temporary),
        }
    };
    early.into_iter().filter(|&id| may_be_mistaken(id)).collect()
}
