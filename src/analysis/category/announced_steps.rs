//! Recordings without stacks in which torch announced the optimizer's steps: what a step makes and leaves is its
//! state, whose sizes tell which parameters are trained.

use super::assign::Scene;
use super::unrecorded::set;
use super::{Category, Reason, Verdict};
use crate::analysis::announced::Work;
use crate::analysis::phases::Phase;
use crate::model::{AllocId, Moment};
use foldhash::HashSet;
use std::ops::Range;

/// Smaller blocks of state are numbers, such as how many steps there were.
const MIN_BLOCK_BYTES: i64 = 9;

/// Of state in the sizes of parameters, there must be this part of all; other optimizers keep it in other sizes.
const MOST: i64 = 5;

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
    pub(super) fn of(scene: &Scene<'_>) -> Option<Self> {
        let mut steps = scene.announced.within_trace().collect::<Vec<_>>().into_iter().rev();
        let (last, before) = (steps.next()?, steps.next());
        let [from, to] = last.events;
        let has_failed = scene.timeline.ooms.last().is_some_and(|oom| (from..to).contains(&oom.event.0));
        if !has_failed && !last.is_open {
            return None;
        }
        let ids = made_in(scene, last);
        let like = before.map(|before| made_in(scene, before)).filter(|like| {
            let pairs = ids.clone().zip(like.clone());
            let same = pairs.clone().filter(|&(a, b)| scene.size(AllocId(a)) == scene.size(AllocId(b)));
            !like.is_empty() && pairs.count() * 9 <= same.count() * 10
        });
        Some(Self { ids, like, like_end: before.map_or(0, |before| before.events[1]) })
    }

    /// What it makes as the step before did is as that: kept, or gone. What it did not make is new state.
    fn verdict(&self, scene: &Scene<'_>, id: AllocId) -> Verdict {
        let kept = (Category::OptimizerState, Reason::LikeKeptInStep);
        let Some(like) = &self.like else { return kept };
        let before = like.start.saturating_add(id.0.saturating_sub(self.ids.start));
        let gone =
            scene.gone(AllocId(before)).filter(|gone| like.contains(&before) && gone.0 < self.like_end);
        if gone.is_some() { (Category::Temporary, Reason::LikeGoneInStep) } else { kept }
    }
}

/// The allocations of a step, by number.
fn made_in(scene: &Scene<'_>, step: &Work) -> Range<u32> {
    let lifetimes = &scene.timeline.lifetimes;
    let first = |event: u32| lifetimes.first_after(Moment(event)).map_or(lifetimes.len() as u32, |id| id.0);
    first(step.events[0])..first(step.events[1])
}

/// What is made in a step that torch announced, or dropped where gradients are.
pub(super) fn verdict(scene: &Scene<'_>, cut: Option<&CutStep>, id: AllocId) -> Option<Verdict> {
    let start = scene.timeline.lifetimes.start(id).event()?;
    let gone = scene.gone(id);
    if let Some(step) = scene.announced.step_at(start.0) {
        // What a closure does in its step is no work of the optimizer.
        let is_own = scene.phases.phase_at(Moment::after(start)) == Phase::Optimizer;
        let cut = cut.filter(|cut| cut.ids.contains(&id.0));
        return is_own.then(|| match (gone, cut) {
            (Some(gone), _) if gone.0 < step.events[1] => (Category::Temporary, Reason::GoneWithStep),
            (_, Some(cut)) => cut.verdict(scene, id),
            _ => (Category::OptimizerState, Reason::KeptAfterStep),
        });
    }
    let is_dropped = gone.is_some_and(|gone| scene.announced.is_in_zero_grad(gone.0));
    is_dropped.then_some((Category::Gradient, Reason::DroppedAsGradient))
}

/// Judge again what was told by sizes alone; `new` is what was made in the recording.
pub(super) fn refine(scene: &Scene<'_>, new: &[AllocId], verdicts: &mut [Verdict]) {
    if scene.announced.within_trace().next().is_none() {
        return;
    }
    let last_step = Moment(scene.announced.steps.last().map_or(0, |step| step.events[1]));
    let begun = |phase: &Phase| matches!(phase, Phase::Data | Phase::Forward | Phase::Backward);
    let first_pass = scene.phases.phases.iter().find(|start| begun(&start.phase)).map(|start| start.event);
    let is_early = |id: AllocId| {
        let start = scene.timeline.lifetimes.start(id).event();
        scene.gone(id).is_none() && start.zip(first_pass).is_some_and(|(start, first)| start < first)
    };
    let trained = Trained::of(scene, new, is_early, verdicts);
    for &id in new {
        let Some(&(category, reason)) = verdicts.get(id.index()) else { continue };
        let (size, start) = (scene.size(id), scene.timeline.lifetimes.start(id));
        let phase = scene.phases.phase_at(start);
        let is_paired = matches!(reason, Reason::PairsAndGoes | Reason::SizePairing);
        let is_trained = trained.sizes.contains(&size);
        let verdict = match (category, phase) {
            // Frozen parameters have no gradients. What a backward leaves until after a step is one all the same.
            _ if is_paired
                && trained.is_all
                && !is_trained
                && (phase != Phase::Backward || last_step < start) =>
            {
                (Category::Activation, Reason::Repeats)
            }
            (Category::Gradient, Phase::Forward | Phase::Eval) if is_paired => {
                (Category::Activation, Reason::Repeats)
            }
            (Category::Activation | Category::Gradient, Phase::Data) if outlives(scene, id) => {
                (Category::Input, Reason::MadeAsData)
            }
            (Category::Activation, _) if reason != Reason::Repeats || !is_trained => continue,
            (Category::Activation, _) if is_early(id) && !trained.parameters.contains(&size) => {
                (Category::Parameter, Reason::SizePairing)
            }
            (Category::Activation, Phase::Backward) => (Category::Gradient, Reason::SizePairing),
            _ => continue,
        };
        set(verdicts, id, verdict);
    }
}

/// Whether something made as data is there until its phase is over.
fn outlives(scene: &Scene<'_>, id: AllocId) -> bool {
    let Some(gone) = scene.gone(id) else { return true };
    scene.phases.phase_at(Moment(gone.0)) != Phase::Data
}

/// The sizes of parameters that an optimizer has state for.
struct Trained {
    sizes: HashSet<i64>,
    /// The sizes of all parameters that are known.
    parameters: HashSet<i64>,
    /// Whether these are all that are trained.
    is_all: bool,
}

impl Trained {
    fn of(
        scene: &Scene<'_>,
        new: &[AllocId],
        is_early: impl Fn(AllocId) -> bool,
        verdicts: &[Verdict],
    ) -> Self {
        let is =
            |id: AllocId, wanted| verdicts.get(id.index()).is_some_and(|&(category, _)| category == wanted);
        let parameters: HashSet<i64> =
            scene.ids().filter(|&id| is(id, Category::Parameter)).map(|id| scene.size(id)).collect();
        let early: HashSet<i64> = new.iter().filter(|&&id| is_early(id)).map(|&id| scene.size(id)).collect();
        let is_state = |id: &&AllocId| {
            verdicts.get(id.index()) == Some(&(Category::OptimizerState, Reason::KeptAfterStep))
                && MIN_BLOCK_BYTES <= scene.size(**id)
        };
        let (mut sizes, mut all, mut paired) = (HashSet::default(), 0i64, 0i64);
        for &id in new.iter().filter(is_state) {
            let size = scene.size(id);
            sizes.insert(size);
            all = all.saturating_add(size);
            if parameters.contains(&size) || early.contains(&size) {
                paired = paired.saturating_add(size);
            }
        }
        Self { parameters, is_all: 0 < all && all - all / MOST <= paired, sizes }
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::flow::fixture::{
        BACKWARD, DATA, FORWARD, LOAD, LOSS, Program, SIZES, STATE, STEP_NAME, train,
    };
    use crate::analysis::{Attribution, Category, Reason, Rules};
    use crate::model::{AllocId, Snapshot};

    /// What each allocation that is live at the end is, by its size.
    fn live(snapshot: &Snapshot) -> Vec<(i64, Category, Reason)> {
        let timeline = &snapshot.timelines[0];
        let categories = Attribution::of(snapshot, timeline, &Rules::default()).categories;
        (0..timeline.lifetimes.len() as u32)
            .map(AllocId)
            .filter(|&id| timeline.lifetimes.end(id).is_none())
            .map(|id| {
                (timeline.lifetimes.size(id, &timeline.events), categories.get(id), categories.reason(id))
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
        assert!(state.clone().all(|live| live.2 == Reason::KeptAfterStep));
    }

    /// Large frozen parameters and small ones that are trained, for three steps.
    fn adapt(program: &mut Program) {
        let frozen: i64 = 64 << 20;
        for size in [frozen, frozen, SIZES[0], SIZES[1]] {
            program.alloc(size, LOAD);
        }
        for step in 0..3 {
            let data = program.alloc(8192, DATA);
            let mut kept: Vec<u64> =
                (0..12).map(|at| program.alloc((20 << 20) + at * 512, FORWARD)).collect();
            // An activation as large as a frozen parameter.
            kept.push(program.alloc(frozen, FORWARD));
            let of_loss = program.alloc(4, LOSS);
            if step == 2 {
                break;
            }
            let gradients = [SIZES[1], SIZES[0]].map(|size| program.alloc(size, BACKWARD));
            for activation in kept.into_iter().rev() {
                program.free(activation, BACKWARD);
            }
            program.free(of_loss, BACKWARD);
            program.announce(STEP_NAME, true);
            for size in [SIZES[0], SIZES[1]].into_iter().filter(|_| step == 0) {
                program.alloc(size, STATE);
                program.alloc(size, STATE);
            }
            program.announce(STEP_NAME, false);
            for addr in gradients.into_iter().chain([data]) {
                program.free(addr, DATA);
            }
        }
    }

    #[test]
    fn nothing_as_large_as_a_frozen_parameter_is_a_gradient() {
        let mut program = Program::timed().without_stacks();
        adapt(&mut program);
        let found = live(&program.finish());
        let large: Vec<Category> =
            found.iter().filter(|live| live.0 == 64 << 20).map(|live| live.1).collect();
        assert_eq!(large, [Category::Parameter, Category::Parameter, Category::Activation]);
        assert_eq!(found.iter().filter(|live| live.1 == Category::OptimizerState).count(), 4);
    }

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
        let found = live(&program.finish());
        found.iter().rev().take(SIZES.len()).map(|live| live.1).collect()
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
