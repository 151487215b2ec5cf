//! Recordings without stacks in which torch announced the optimizer's steps: what a step makes and leaves is its
//! state, whose sizes tell which parameters are trained.

use super::unfinished_step::CutStep;
use super::{Category, Claims, RuleId, Verdict, View};
use crate::analysis::attribution::structure::Phase;
use crate::model::{AllocId, Moment};

/// What is made in a step that torch announced, or dropped where gradients are.
pub(super) fn verdict(view: &View<'_>, cut: Option<&CutStep>, id: AllocId) -> Option<Verdict> {
    let start = view.timeline.lifetimes.start(id).event()?;
    let gone = view.gone(id);
    if let Some(step) = view.announced.step_at(start.0) {
        // What a closure does in its step is no work of the optimizer.
        let is_own = view.phases.phase_at(Moment::after(start)) == Phase::Optimizer;
        let cut = cut.filter(|cut| cut.contains(id));
        return is_own.then(|| match (gone, cut) {
            (Some(gone), _) if gone.0 < step.events[1] => {
                Verdict::new(Category::Temporary, RuleId::GoneInAnnouncedStep)
            }
            (_, Some(cut)) => cut.verdict(view, id),
            _ => Verdict::new(Category::OptimizerState, RuleId::KeptAfterAnnouncedStep),
        });
    }
    let is_dropped = gone.is_some_and(|gone| view.announced.is_in_zero_grad(gone.0));
    is_dropped.then_some(Verdict::new(Category::Gradient, RuleId::GoneInZeroGrad))
}

/// Before the backward nothing is a gradient, whatever its size; `new` is what was made in the recording.
pub(super) fn refine(view: &View<'_>, new: &[AllocId], claims: &mut Claims) {
    if view.announced.within_trace().next().is_none() {
        return;
    }
    for &id in new.iter().filter(|&&id| claims.is(id, Category::Gradient)).collect::<Vec<_>>() {
        let phase = view.phases.phase_at(view.timeline.lifetimes.start(id));
        if matches!(phase, Phase::Forward | Phase::Eval) {
            claims.claim(id, Verdict::new(Category::Activation, RuleId::PassMakesNone));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::attribution::facts::fixture::{Program, train};
    use crate::analysis::{Attribution, Category, RuleId, UserRules};
    use crate::model::{AllocId, Snapshot};

    /// What each allocation that is live at the end is, by its size.
    fn live(snapshot: &Snapshot) -> Vec<(i64, Category, RuleId)> {
        let timeline = &snapshot.timelines[0];
        let categories = Attribution::of(snapshot, timeline, &UserRules::default()).categories;
        (0..timeline.lifetimes.len() as u32)
            .map(AllocId)
            .filter(|&id| timeline.lifetimes.end(id).is_none())
            .map(|id| {
                (timeline.lifetimes.size(id, &timeline.events), categories.get(id), categories.rule(id))
            })
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
