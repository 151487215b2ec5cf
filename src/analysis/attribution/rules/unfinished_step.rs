//! The last step of a recording without stacks, where it failed or is not over: what it makes, judged by the step before.

use super::{Category, RuleId, Verdict, View};
use crate::analysis::attribution::facts::Work;
use crate::model::{AllocId, Moment};
use std::ops::Range;

/// The last step, if it failed or the recording ends in it: nothing that it made is given back yet.
pub(super) struct CutStep {
    /// Its allocations.
    ids: Range<u32>,
    /// Those of the step before, if it began to make the same.
    like: Option<Range<u32>>,
    like_end: u32,
}

impl CutStep {
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
        let like = before.map(|before| made_in(view, before)).filter(|like| {
            let pairs = ids.clone().zip(like.clone());
            let same = pairs.clone().filter(|&(a, b)| view.size(AllocId(a)) == view.size(AllocId(b)));
            !like.is_empty() && pairs.count() * 9 <= same.count() * 10
        });
        Some(Self { ids, like, like_end: before.map_or(0, |before| before.events[1]) })
    }

    /// Whether an allocation was made in it.
    pub(super) fn contains(&self, id: AllocId) -> bool {
        self.ids.contains(&id.0)
    }

    /// What it makes as the step before did is as that: kept, or gone. What it did not make is new state.
    pub(super) fn verdict(&self, view: &View<'_>, id: AllocId) -> Verdict {
        let kept = Verdict::new(Category::OptimizerState, RuleId::UnfinishedStepKeeps);
        let Some(like) = &self.like else { return kept };
        let before = like.start.saturating_add(id.0.saturating_sub(self.ids.start));
        let gone = view.gone(AllocId(before)).filter(|gone| like.contains(&before) && gone.0 < self.like_end);
        if gone.is_some() { Verdict::new(Category::Temporary, RuleId::UnfinishedStepDrops) } else { kept }
    }
}

/// The allocations of a step, by number.
fn made_in(view: &View<'_>, step: &Work) -> Range<u32> {
    let lifetimes = &view.timeline.lifetimes;
    let first = |event: u32| lifetimes.first_after(Moment(event)).map_or(lifetimes.len() as u32, |id| id.0);
    first(step.events[0])..first(step.events[1])
}

#[cfg(test)]
mod tests {
    use crate::analysis::attribution::facts::fixture::{
        BACKWARD, FORWARD, LOAD, LOSS, Program, SIZES, STATE, STEP_NAME,
    };
    use crate::analysis::{Attribution, Category, UserRules};
    use crate::model::AllocId;

    /// What a step makes that the recording ends in, after so many that are over. Each makes a temporary for every
    /// parameter, and the first may make state before.
    fn cut(steps: usize, makes_state: bool) -> Vec<Category> {
        let mut program = Program::timed().without_stacks();
        for size in SIZES {
            program.alloc(size, LOAD);
        }
        for at in 0..=steps {
            let kept: Vec<u64> = (0..14).map(|at| program.alloc((20 << 20) + at * 512, FORWARD)).collect();
            let of_loss = program.alloc(4, LOSS);
            for (place, activation) in kept.into_iter().rev().enumerate() {
                if let Some(&size) = SIZES.get(place) {
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
        let snapshot = program.finish();
        let timeline = &snapshot.timelines[0];
        let categories = Attribution::of(&snapshot, timeline, &UserRules::default()).categories;
        let ids = (0..timeline.lifetimes.len() as u32).rev().map(AllocId);
        ids.take(SIZES.len()).map(|id| categories.get(id)).collect()
    }

    #[test]
    fn a_step_that_is_not_over_does_what_the_one_before_did() {
        assert_eq!(cut(3, false), [Category::Temporary; 4]);
        assert_eq!(cut(3, true), [Category::Temporary; 4]);
        assert_eq!(
            cut(0, true),
            [Category::OptimizerState; 4],
            "the first one sets up state, for all that is known"
        );
    }
}
