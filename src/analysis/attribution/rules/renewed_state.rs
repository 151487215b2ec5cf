//! State that an optimizer does not update in place, but makes anew in each step.

use super::{Category, Claims, RuleId, Verdict, View};
use crate::model::EventIx;
use foldhash::HashSet;

/// What each step leaves.
pub(super) struct Renewed<'a> {
    view: &'a View<'a>,
    /// The number of a step, and a size of state that it left.
    sizes: HashSet<(usize, i64)>,
}

impl<'a> Renewed<'a> {
    pub(super) fn of(view: &'a View<'a>, claims: &Claims) -> Self {
        let mut out = Self { view, sizes: HashSet::default() };
        for id in view.ids().skip(view.timeline.lifetimes.initial_count()) {
            // What is set up takes the place of nothing.
            let Verdict { category, rule } = claims.get(id);
            let is_made_anew = category == Category::OptimizerState && rule != RuleId::StateSetup;
            let start = view.timeline.lifetimes.start(id).event().filter(|_| is_made_anew);
            if let Some(step) = start.and_then(|start| view.flow.step_spans.at(start.0)) {
                out.sizes.insert((step, view.size(id)));
            }
        }
        out
    }

    /// Whether the step that an event lies in leaves state of a size.
    pub(super) fn has(&self, event: EventIx, size: i64) -> bool {
        self.view.flow.step_spans.at(event.0).is_some_and(|step| self.sizes.contains(&(step, size)))
    }
}
