//! Optimizer state that is not updated in place, but made anew in each step.

use crate::analysis::attribution::claims::{Claims, Verdict};
use crate::analysis::attribution::view::View;
use crate::analysis::attribution::{Category, RuleId};
use crate::model::EventIx;
use foldhash::HashSet;

/// The state that each step leaves.
pub(super) struct RecreatedState<'a> {
    view: &'a View<'a>,
    /// The index of a step, and a size of state that it leaves.
    sizes: HashSet<(usize, i64)>,
}

impl<'a> RecreatedState<'a> {
    pub(super) fn of(view: &'a View<'a>, claims: &Claims) -> Self {
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
    pub(super) fn has(&self, event: EventIx, size: i64) -> bool {
        let step = self.view.device.step_spans.index_at(event.0);
        step.is_some_and(|step| self.sizes.contains(&(step, size)))
    }
}
