//! Recordings without stacks in which torch announced the optimizer's steps: blocks that a step makes and leaves are its
//! state, whose sizes show which parameters are trained.

use super::unfinished_step::UnfinishedStep;
use crate::analysis::attribution::claims::{Claims, Verdict};
use crate::analysis::attribution::structure::Phase;
use crate::analysis::attribution::view::View;
use crate::analysis::attribution::{Category, RuleId};
use crate::model::{AllocId, Moment};

/// The verdict on an allocation that is made in an announced step, or freed where gradients are dropped.
pub(super) fn verdict(view: &View<'_>, unfinished: Option<&UnfinishedStep>, id: AllocId) -> Option<Verdict> {
    let made = view.alloc_event(id)?;
    let freed = view.free_event(id);
    if let Some(step) = view.announced.step_at(made.0) {
        // A closure's passes in a step are no work of the optimizer.
        let is_optimizer = view.course.of_event_before(Moment::after(made)) == Phase::Optimizer;
        let unfinished = unfinished.filter(|unfinished| unfinished.contains(id));
        return is_optimizer.then(|| match (freed, unfinished) {
            (Some(freed), _) if freed.0 < step.events[1] => RuleId::GoneInAnnouncedStep.verdict(),
            (_, Some(unfinished)) => unfinished.verdict(view, id),
            _ => RuleId::KeptAfterAnnouncedStep.verdict(),
        });
    }
    let is_dropped = freed.is_some_and(|freed| view.announced.is_in_zero_grad(freed.0));
    is_dropped.then_some(RuleId::GoneInZeroGrad.verdict())
}

/// Take back gradients that are made before any backward of their pass. `new` are the allocations of the recording that
/// no stack explains.
pub(super) fn refine(view: &View<'_>, new: &[AllocId], claims: &mut Claims) {
    if view.announced.within_trace().next().is_none() {
        return;
    }
    for &id in new.iter().filter(|&&id| claims.is(id, Category::Gradient)).collect::<Vec<_>>() {
        let phase = view.course.of_event_before(view.timeline.lifetimes.start(id));
        if matches!(phase, Phase::Forward | Phase::Eval) {
            claims.claim(id, RuleId::PassMakesNone.verdict());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::attribution::facts::fixture::{Program, train};
    use crate::analysis::{Attribution, Category, RuleId, UserRules};
    use crate::model::{AllocId, Snapshot};

    /// Size, category and rule of each allocation that is live at the end.
    fn live(snapshot: &Snapshot) -> Vec<(i64, Category, RuleId)> {
        let timeline = &snapshot.timelines[0];
        let categories = Attribution::of(snapshot, timeline, &UserRules::default()).categories;
        (0..timeline.lifetimes.len() as u32)
            .map(AllocId)
            .filter(|&id| timeline.lifetimes.end(id).is_none())
            .map(|id| (timeline.size(id), categories.get(id), categories.rule(id)))
            .collect()
    }

    #[test]
    fn state_is_what_steps_leave_and_gradients_are_what_is_dropped() {
        let mut program = Program::timed().without_stacks();
        let held = train(&mut program, 3, None);
        let found = live(&program.finish());
        let count = |category| found.iter().filter(|live| live.1 == category).count();
        assert_eq!(count(Category::Parameter), held.parameters.len());
        assert_eq!(count(Category::OptimizerState), held.state.len());
        assert_eq!(count(Category::Gradient), held.gradients.len());
        let state = found.iter().filter(|live| live.1 == Category::OptimizerState);
        assert!(state.clone().all(|live| live.2 == RuleId::KeptAfterAnnouncedStep));
    }
}
