//! Recordings without stacks in which torch announced the optimizer's steps: what a step makes and leaves is its
//! state, whose sizes tell which parameters are trained.

use super::unfinished_step::CutStep;
use super::{Category, Claims, RuleId, Verdict, View};
use crate::analysis::attribution::structure::Phase;
use crate::model::{AllocId, Moment};
use foldhash::HashSet;

/// Smaller blocks of state are numbers, such as how many steps there were.
const MIN_BLOCK_BYTES: i64 = 9;

/// All but this part of the state must have sizes of parameters; some optimizers keep it in others.
const OTHER_PART: i64 = 5;

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

/// Judge again what was told by sizes alone; `new` is what was made in the recording.
pub(super) fn refine(view: &View<'_>, new: &[AllocId], claims: &mut Claims) {
    if view.announced.within_trace().next().is_none() {
        return;
    }
    let last_step = Moment(view.announced.steps.last().map_or(0, |step| step.events[1]));
    let begun = |phase: &Phase| matches!(phase, Phase::Data | Phase::Forward | Phase::Backward);
    let first_pass = view.phases.phases.iter().find(|start| begun(&start.phase)).map(|start| start.event);
    let is_early = |id: AllocId| {
        let start = view.timeline.lifetimes.start(id).event();
        view.gone(id).is_none() && start.zip(first_pass).is_some_and(|(start, first)| start < first)
    };
    let trained = Trained::of(view, new, is_early, claims);
    for &id in new {
        let Verdict { category, rule } = claims.get(id);
        let (size, start) = (view.size(id), view.timeline.lifetimes.start(id));
        let phase = view.phases.phase_at(start);
        let is_paired = matches!(rule, RuleId::PairsAndGoes | RuleId::PairsAndStays);
        let is_trained = trained.sizes.contains(&size);
        let verdict = match (category, phase) {
            // Frozen parameters have no gradients. What a backward leaves until after a step is one all the same.
            _ if is_paired
                && trained.is_all
                && !is_trained
                && (phase != Phase::Backward || last_step < start) =>
            {
                Verdict::new(Category::Activation, RuleId::FrozenSize)
            }
            (Category::Gradient, Phase::Forward | Phase::Eval) if is_paired => {
                Verdict::new(Category::Activation, RuleId::PassMakesNone)
            }
            (Category::Activation | Category::Gradient, Phase::Data) if outlives(view, id) => {
                Verdict::new(Category::Input, RuleId::MadeAsData)
            }
            (Category::Activation, _) if rule != RuleId::PairsWithNothing || !is_trained => continue,
            (Category::Activation, _) if is_early(id) && !trained.parameters.contains(&size) => {
                Verdict::new(Category::Parameter, RuleId::MadeBeforePasses)
            }
            (Category::Activation, Phase::Backward) => {
                Verdict::new(Category::Gradient, RuleId::MadeInBackward)
            }
            _ => continue,
        };
        claims.claim(id, verdict);
    }
}

/// Whether something made as data is there until its phase is over.
fn outlives(view: &View<'_>, id: AllocId) -> bool {
    let Some(gone) = view.gone(id) else { return true };
    view.phases.phase_at(Moment(gone.0)) != Phase::Data
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
    fn of(view: &View<'_>, new: &[AllocId], is_early: impl Fn(AllocId) -> bool, claims: &Claims) -> Self {
        let is = |id: AllocId, wanted| claims.is(id, wanted);
        let parameters: HashSet<i64> =
            view.ids().filter(|&id| is(id, Category::Parameter)).map(|id| view.size(id)).collect();
        let early: HashSet<i64> = new.iter().filter(|&&id| is_early(id)).map(|&id| view.size(id)).collect();
        let is_state = |id: &&AllocId| {
            claims.get(**id) == Verdict::new(Category::OptimizerState, RuleId::KeptAfterAnnouncedStep)
                && MIN_BLOCK_BYTES <= view.size(**id)
        };
        let (mut sizes, mut all, mut paired) = (HashSet::default(), 0i64, 0i64);
        for &id in new.iter().filter(is_state) {
            let size = view.size(id);
            sizes.insert(size);
            all = all.saturating_add(size);
            if parameters.contains(&size) || early.contains(&size) {
                paired = paired.saturating_add(size);
            }
        }
        Self { parameters, is_all: 0 < all && all - all / OTHER_PART <= paired, sizes }
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::attribution::facts::fixture::{
        BACKWARD, DATA, FORWARD, LOAD, LOSS, Program, SIZES, STATE, STEP_NAME, train,
    };
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
}
