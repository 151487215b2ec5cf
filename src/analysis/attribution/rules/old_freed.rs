//! Blocks that are older than the recording, and freed within it.

use super::old_like_calls;
use crate::analysis::attribution::claims::{Claims, Verdict};
use crate::analysis::attribution::facts::Activity;
use crate::analysis::attribution::view::{CountBySize, View};
use crate::analysis::attribution::{Category, RuleId};
use crate::model::{AllocId, EventIx};
use foldhash::HashSet;

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
        claims.claim_all(rest, RuleId::OldAndGone.verdict());
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
        Activity::Backward => Some(RuleId::GoneInBackward.verdict()),
        Activity::Step if recreated.has(freed, view.size(id)) => Some(RuleId::GoneInStep.verdict()),
        _ if gradients.contains_key(&view.size(id)) => Some(RuleId::OldGradient.verdict()),
        _ => None,
    }
}

/// Optimizer state that is not updated in place, but made anew in each step: what each step leaves.
struct RecreatedState<'a> {
    view: &'a View<'a>,
    /// The index of a step, and a size of state that it leaves.
    sizes: HashSet<(usize, i64)>,
}

impl<'a> RecreatedState<'a> {
    fn of(view: &'a View<'a>, claims: &Claims) -> Self {
        let mut out = Self { view, sizes: HashSet::default() };
        for (id, made) in view.new_ids() {
            // State that is set up takes the place of nothing.
            let Verdict { category, rule } = claims.verdict(id);
            let is_made_anew = category == Category::OptimizerState && rule != RuleId::StateSetup;
            if let Some(step) = view.device.step_spans.index_at(made.0).filter(|_| is_made_anew) {
                out.sizes.insert((step, view.size(id)));
            }
        }
        out
    }

    /// Whether the step that an event lies in leaves state of a size.
    fn has(&self, event: EventIx, size: i64) -> bool {
        let step = self.view.device.step_spans.index_at(event.0);
        step.is_some_and(|step| self.sizes.contains(&(step, size)))
    }
}
