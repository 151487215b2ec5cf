//! Blocks that are older than the recording, and given back within it.

use super::gradient_sizes::Sizes;
use super::old_like_calls;
use super::renewed_state::Renewed;
use super::{Category, Claims, RuleId, Verdict, View};
use crate::analysis::attribution::facts::Act;
use crate::model::AllocId;

/// Settle them; what nothing explains stays unknown.
pub(super) fn settle(view: &View<'_>, goes: &[AllocId], trained: &Sizes, claims: &mut Claims) {
    let renewed = Renewed::of(view, claims);
    let mut rest = Vec::new();
    for &id in goes {
        match followed(view, id, trained, &renewed) {
            Some(verdict) => claims.claim(id, verdict),
            None => rest.push(id),
        }
    }
    if view.flow.acts.has_stacks {
        old_like_calls::settle(view, &rest, claims);
    } else {
        for id in rest {
            claims.claim(id, Verdict::new(Category::Activation, RuleId::OldAndGone));
        }
    }
}

/// What giving a block back shows of it.
fn followed(view: &View<'_>, id: AllocId, trained: &Sizes, renewed: &Renewed<'_>) -> Option<Verdict> {
    let gone = view.gone(id)?;
    match view.flow.acts.at(gone.0) {
        Act::Backward => Some(Verdict::new(Category::Activation, RuleId::GoneInBackward)),
        Act::Step if renewed.has(gone, view.size(id)) => {
            Some(Verdict::new(Category::OptimizerState, RuleId::GoneInStep))
        }
        _ if trained.contains_key(&view.size(id)) => {
            Some(Verdict::new(Category::Gradient, RuleId::OldGradient))
        }
        _ => None,
    }
}
