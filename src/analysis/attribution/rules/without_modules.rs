//! Programs that call no modules, or only once the recording has ended: the habits of their lines.

use crate::analysis::attribution::claims::Verdict;
use crate::analysis::attribution::facts::{Activity, Part, StackTrait};
use crate::analysis::attribution::view::View;
use crate::analysis::attribution::{Category, RuleId};
use crate::model::{AllocId, EventIx, StackId};
use foldhash::{HashMap, HashSet};

/// Fewer blocks that a function makes first of all may be anything.
const MIN_WEIGHTS: u32 = 4;

/// The fate of the blocks that a line allocates.
#[derive(Debug, Clone, Copy, Default)]
struct LineHabit {
    /// How many a backward freed.
    used: u32,
    /// How many outlived a backward and were freed by other code.
    kept: u32,
    /// How many were freed without any backward in between.
    brief: u32,
}

/// The habits of all lines.
pub(super) struct LineHabits {
    by_line: HashMap<StackId, LineHabit>,
    /// Functions that make weights, before anything else is computed.
    weight_code: HashSet<u32>,
    /// The first event of each backward.
    backwards: Vec<u32>,
    /// The first allocation by a line that makes temporaries, too.
    first_work: u32,
    /// Whether the recording shows everything that was made, and by Python.
    is_complete: bool,
    /// Whether no stack shows modules or optimizers of torch at work.
    is_without_torch: bool,
}

impl LineHabits {
    pub(super) fn of(view: &View<'_>) -> Self {
        let runs = view.device.activities.runs.iter();
        let backwards = runs.filter(|run| run.activity == Activity::Backward).map(|run| run.start).collect();
        let mut out = Self {
            by_line: HashMap::default(),
            weight_code: HashSet::default(),
            backwards,
            first_work: u32::MAX,
            is_complete: !view.stacks.is_compiled && view.timeline.lifetimes.initial_count() == 0,
            is_without_torch: !view.stacks.show_torch(),
        };
        for (id, made) in view.new_ids() {
            let Some(freed) = view.free_event(id) else { continue };
            let outlives_backward = out.has_backward_between(made.0, freed.0);
            let habit = out.by_line.entry(view.timeline.events.stack(made)).or_default();
            match view.device.activities.at(freed.0) {
                Activity::Backward => habit.used += 1,
                _ if outlives_backward => habit.kept += 1,
                _ => habit.brief += 1,
            }
        }
        out.find_weight_code(view);
        out
    }

    fn has_backward_between(&self, start: u32, end: u32) -> bool {
        let next = self.backwards.partition_point(|&backward| backward <= start);
        self.backwards.get(next).is_some_and(|&backward| backward < end)
    }

    /// Find functions that make blocks before any line makes temporaries, and of whose blocks none is freed.
    fn find_weight_code(&mut self, view: &View<'_>) {
        let mut kept: HashMap<u32, u32> = HashMap::default();
        let mut others: HashSet<u32> = HashSet::default();
        for (id, made) in view.new_ids() {
            let stack = view.timeline.events.stack(made);
            let facts = view.facts_of(stack);
            if facts.part != Part::Main {
                continue;
            }
            if self.by_line.get(&stack).is_some_and(|habit| 0 < habit.used + habit.brief) {
                self.first_work = self.first_work.min(made.0);
            }
            if self.first_work <= made.0 || view.free_event(id).is_some() {
                others.insert(facts.calling_code);
            } else {
                *kept.entry(facts.calling_code).or_default() += 1;
            }
        }
        let makes_weights = |&(code, count): &(u32, u32)| MIN_WEIGHTS <= count && !others.contains(&code);
        self.weight_code = kept.into_iter().filter(makes_weights).map(|(code, _)| code).collect();
    }

    /// The verdict on a block that the program's own code makes.
    pub(super) fn verdict(&self, view: &View<'_>, id: AllocId, stack: StackId, made: EventIx) -> Verdict {
        let habit = self.by_line.get(&stack).copied().unwrap_or_default();
        let freed = view.free_event(id);
        let facts = view.facts_of(stack);
        let is_weight = facts.has(StackTrait::MakesWeights)
            || facts.has(StackTrait::InInit)
            || self.weight_code.contains(&facts.calling_code);
        if view.is_freed_by_backward(id) {
            Verdict::new(Category::Activation, RuleId::GoneInBackward)
        } else if habit.kept < habit.used {
            Verdict::new(Category::Activation, RuleId::LikeGoneInBackward)
        } else if freed.is_some_and(|freed| !self.has_backward_between(made.0, freed.0)) {
            Verdict::new(Category::Temporary, RuleId::BetweenSteps)
        } else if self.is_complete && self.is_without_torch && is_weight && freed.is_none() {
            Verdict::new(Category::Parameter, RuleId::WeightCode)
        } else if facts.has(StackTrait::InFunctional) {
            Verdict::new(Category::Activation, RuleId::FunctionalCode)
        } else {
            Verdict::OPEN
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::attribution::facts::fixture::{BACKWARD, Program};
    use crate::analysis::{Attribution, Category, Phase, UserRules};
    use crate::model::Moment;

    const MAIN: &str = "/home/me/train.py <module>";
    const MAKE: &[&str] = &["/home/me/train.py make", MAIN];
    const BATCH: &[&str] = &["/home/me/train.py batch", MAIN];
    const LINEAR: &[&str] = &["torch/nn/functional.py linear", "/home/me/train.py predict", MAIN];
    const GELU: &[&str] = &["torch/nn/functional.py gelu", "/home/me/train.py predict", MAIN];

    /// Categories of weights, batch and activations at the end of a forward after `iterations` of training, and the phase.
    fn after(iterations: usize) -> ([Category; 4], Phase) {
        let mut program = Program::default();
        let weights: Vec<u64> = (1..=4).map(|size| program.alloc(size << 20, MAKE)).collect();
        let mut gradients: Vec<u64> = Vec::new();
        let mut old = None;
        for iteration in 0.. {
            let batch = program.alloc(4096, BATCH);
            if let Some(old) = old.replace(batch) {
                program.free(old, BATCH);
            }
            let mut kept = Vec::new();
            for _ in 0..4 {
                kept.push(program.alloc(30 << 20, LINEAR));
                let workspace = program.alloc(1 << 20, LINEAR);
                program.free(workspace, LINEAR);
                kept.push(program.alloc(31 << 20, GELU));
            }
            if iteration == iterations {
                let snapshot = program.finish();
                let timeline = &snapshot.timelines[0];
                let found = Attribution::of(&snapshot, timeline, &UserRules::default());
                let end = Moment(timeline.events.len() as u32);
                let category = |addr| {
                    let mut live = timeline.lifetimes.live_at(end);
                    let id = live.find(|&id| timeline.addr(id) == addr);
                    found.categories.get(id.expect("live at the end"))
                };
                let of = [weights[0], batch, kept[0], kept[1]].map(category);
                return (of, found.phases.phase_at(end));
            }
            for gradient in gradients.drain(..) {
                program.free(gradient, MAKE);
            }
            for activation in kept.into_iter().rev() {
                program.free(activation, BACKWARD);
            }
            gradients.extend((1..=4).map(|size| program.alloc(size << 20, BACKWARD)));
        }
        unreachable!()
    }

    #[test]
    fn weights_batches_and_activations_are_told_by_the_habits_of_lines() {
        let (weights, batch) = (Category::Parameter, Category::Unknown);
        for iterations in 0..3 {
            let of = Category::Activation;
            // Without a call of a model, all that comes before the backward counts as its data.
            assert_eq!(after(iterations), ([weights, batch, of, of], Phase::Data), "{iterations}");
        }
    }

    const NORM: &[&str] = &[
        "torch/nn/modules/normalization.py forward",
        "torch/nn/modules/module.py _call_impl",
        "/home/me/train.py predict",
        MAIN,
    ];
    const WEIGHTS: &[&str] = &["/home/me/model.py normal", "/home/me/model.py init_weights", MAIN];
    const TABLE: &[&str] = &["/home/me/train.py tokens", MAIN];

    /// Categories of weights and data of a program without modules but for one, which is called.
    fn beside_a_module(starts_late: bool) -> [Category; 2] {
        let mut program = Program::default();
        let weights: Vec<u64> = (1..=4).map(|size| program.alloc(size << 20, WEIGHTS)).collect();
        let data = program.alloc(9 << 20, TABLE);
        if starts_late {
            program.forget_events();
        }
        for _ in 0..3 {
            let made = [program.alloc(30 << 20, LINEAR), program.alloc(31 << 20, NORM)];
            for activation in made {
                program.free(activation, LINEAR);
            }
        }
        let snapshot = program.finish();
        let timeline = &snapshot.timelines[0];
        let found = Attribution::of(&snapshot, timeline, &UserRules::default());
        let mut live = timeline.lifetimes.live_at(Moment(timeline.events.len() as u32));
        [weights[0], data].map(|addr| {
            let id = live.find(|&id| timeline.addr(id) == addr);
            found.categories.get(id.expect("live at the end"))
        })
    }

    #[test]
    fn weights_of_the_programs_own_functions_stay_weights_beside_a_module() {
        for starts_late in [false, true] {
            let [weights, data] = beside_a_module(starts_late);
            assert_eq!(weights, Category::Parameter, "{starts_late}");
            assert_ne!(data, Category::Parameter, "{starts_late}");
        }
    }
}
