//! Blocks that are older than the recording, and freed within it.

use super::gradient_sizes::CountBySize;
use super::old_like_calls;
use super::recreated_state::RecreatedState;
use crate::analysis::attribution::claims::{Claims, Verdict};
use crate::analysis::attribution::facts::Activity;
use crate::analysis::attribution::view::View;
use crate::analysis::attribution::{Category, RuleId};
use crate::model::AllocId;

/// Claim old blocks that are freed; one that nothing explains stays unknown.
pub(super) fn claim(view: &View<'_>, freed: &[AllocId], gradients: &CountBySize, claims: &mut Claims) {
    let recreated = RecreatedState::of(view, claims);
    let mut rest = Vec::new();
    for &id in freed {
        match verdict_by_free(view, id, gradients, &recreated) {
            Some(verdict) => claims.claim(id, verdict),
            None => rest.push(id),
        }
    }
    if view.device.activities.has_stacks {
        old_like_calls::claim(view, &rest, claims);
    } else {
        for id in rest {
            claims.claim(id, Verdict::new(Category::Activation, RuleId::OldAndGone));
        }
    }
}

/// The verdict that freeing a block suggests.
fn verdict_by_free(
    view: &View<'_>,
    id: AllocId,
    gradients: &CountBySize,
    recreated: &RecreatedState<'_>,
) -> Option<Verdict> {
    let freed = view.free_event(id)?;
    match view.device.activities.at(freed.0) {
        Activity::Backward => Some(Verdict::new(Category::Activation, RuleId::GoneInBackward)),
        Activity::Step if recreated.has(freed, view.size(id)) => {
            Some(Verdict::new(Category::OptimizerState, RuleId::GoneInStep))
        }
        _ if gradients.contains_key(&view.size(id)) => {
            Some(Verdict::new(Category::Gradient, RuleId::OldGradient))
        }
        _ => None,
    }
}
