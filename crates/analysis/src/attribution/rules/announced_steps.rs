//! Recordings without stacks in which torch announced the optimizer's steps: blocks that a step makes and leaves are its
//! state, whose sizes show which parameters are trained.

use crate::attribution::claims::{Claims, Verdict};
use crate::attribution::facts::AnnouncedRange;
use crate::attribution::structure::Phase;
use crate::attribution::thresholds::is_nearly_all;
use crate::attribution::view::View;
use crate::attribution::{Category, RuleId};
use oomscope_model::{AllocId, Moment};
use std::ops::Range;

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

/// The last step, if it failed or the recording ends in it: nothing that it made is freed yet.
pub(super) struct UnfinishedStep {
    /// Its allocations.
    ids: Range<u32>,
    /// The allocations of the step before, if it began to make the same.
    pattern: Option<Range<u32>>,
    pattern_end: u32,
}

impl UnfinishedStep {
    /// `None` where the last step is over.
    pub(super) fn of(view: &View<'_>) -> Option<Self> {
        let mut steps = view.announced.within_trace().collect::<Vec<_>>().into_iter().rev();
        let (last, before) = (steps.next()?, steps.next());
        let [from, to] = last.events;
        let has_failed = view.timeline.ooms.last().is_some_and(|oom| (from..to).contains(&oom.event.0));
        if !has_failed && !last.is_open {
            return None;
        }
        let ids = made_in(view, last);
        let pattern = before.map(|before| made_in(view, before)).filter(|before| {
            let pairs = ids.clone().zip(before.clone());
            let same = pairs.clone().filter(|&(a, b)| view.size(AllocId(a)) == view.size(AllocId(b)));
            let count = pairs.count();
            !before.is_empty() && is_nearly_all(same.count(), count)
        });
        Some(Self { ids, pattern, pattern_end: before.map_or(0, |before| before.events[1]) })
    }

    /// Whether an allocation was made in it.
    pub(super) fn contains(&self, id: AllocId) -> bool {
        self.ids.contains(&id.0)
    }

    /// The verdict on one of its allocations: kept or freed as in the step before. What the step before did not make is new
    /// state.
    pub(super) fn verdict(&self, view: &View<'_>, id: AllocId) -> Verdict {
        let kept = RuleId::UnfinishedStepKeeps.verdict();
        let Some(pattern) = &self.pattern else { return kept };
        let before = pattern.start.saturating_add(id.0.saturating_sub(self.ids.start));
        let is_freed = pattern.contains(&before)
            && view.free_event(AllocId(before)).is_some_and(|freed| freed.0 < self.pattern_end);
        if is_freed { RuleId::UnfinishedStepDrops.verdict() } else { kept }
    }
}

/// The allocations of a step, by number.
fn made_in(view: &View<'_>, step: &AnnouncedRange) -> Range<u32> {
    let lifetimes = &view.timeline.lifetimes;
    let first = |event: u32| lifetimes.first_after(Moment(event)).map_or(lifetimes.len() as u32, |id| id.0);
    first(step.events[0])..first(step.events[1])
}

#[cfg(test)]
mod tests {
    use crate::{Attribution, Category, RuleId, UserRules};
    use oomscope_fixtures::programs::{Program, train};
    use oomscope_model::{AllocId, Recording};

    /// Size, category and rule of each allocation that is live at the end.
    fn live(recording: &Recording) -> Vec<(i64, Category, RuleId)> {
        let categories = Attribution::of(recording, &UserRules::default()).categories;
        (0..recording.lifetimes.len() as u32)
            .map(AllocId)
            .filter(|&id| recording.lifetimes.end(id).is_none())
            .map(|id| (recording.size(id).0, categories.get(id), categories.rule(id)))
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

#[cfg(test)]
mod unfinished_tests {
    use crate::{Attribution, Category, UserRules};
    use oomscope_fixtures::programs::{BACKWARD, FORWARD, LOAD, LOSS, Program, SIZES, STATE, STEP_NAME};

    /// The categories of the blocks of an unfinished step that follows `steps` finished ones. Each step makes a temporary for
    /// every parameter, and the first may make state before.
    fn categories_of_unfinished(steps: usize, makes_state: bool) -> Vec<Category> {
        let mut program = Program::timed().without_stacks();
        for size in SIZES {
            program.alloc(size, LOAD);
        }
        for at in 0..=steps {
            let kept: Vec<u64> = (0..14).map(|at| program.alloc((20 << 20) + at * 512, FORWARD)).collect();
            let of_loss = program.alloc(4, LOSS);
            for (at, activation) in kept.into_iter().rev().enumerate() {
                if let Some(&size) = SIZES.get(at) {
                    program.alloc(size, BACKWARD);
                }
                program.free(activation, BACKWARD);
            }
            program.free(of_loss, BACKWARD);
            program.announce(STEP_NAME, true);
            for size in SIZES.into_iter().filter(|_| makes_state && at == 0) {
                program.alloc(size, STATE);
            }
            let temporaries = SIZES.map(|size| program.alloc(size, STATE));
            if at < steps {
                for addr in temporaries {
                    program.free(addr, STATE);
                }
                program.announce(STEP_NAME, false);
            }
        }
        let recording = program.finish();
        let categories = Attribution::of(&recording, &UserRules::default()).categories;
        let ids = recording.ids().rev();
        ids.take(SIZES.len()).map(|id| categories.get(id)).collect()
    }

    #[test]
    fn a_step_that_is_not_over_does_what_the_one_before_did() {
        assert_eq!(categories_of_unfinished(3, false), [Category::Temporary; 4]);
        assert_eq!(categories_of_unfinished(3, true), [Category::Temporary; 4]);
        assert_eq!(
            categories_of_unfinished(0, true),
            [Category::OptimizerState; 4],
            "the first one sets up state, for all that is known"
        );
    }
}
