//! Programs that call no modules, or only once the recording has ended: what their lines do.

use super::{Category, RuleId, Verdict, View};
use crate::analysis::attribution::facts::{Act, Part};
use crate::model::{AllocId, EventIx, StackId};
use foldhash::{HashMap, HashSet};

/// Fewer blocks that a function makes first of all may be anything.
const MIN_WEIGHTS: u32 = 4;

/// What became of what a line allocates.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    /// How many blocks a backward gave back.
    used: u32,
    /// How many outlived one and were given back by other code.
    kept: u32,
    /// How many were gone again without any backward in between.
    brief: u32,
}

/// What lines do.
pub(super) struct Lines {
    by_line: HashMap<StackId, Line>,
    /// Functions that make weights, before anything else is computed.
    weights: HashSet<u32>,
    /// Where each backward starts.
    backwards: Vec<u32>,
    /// The first allocation by a line that makes temporaries, too.
    first_work: u32,
    /// Whether the recording shows all that was made, and by Python.
    is_sure: bool,
    /// Whether no stack shows that modules or optimizers of torch are at work.
    is_plain: bool,
}

impl Lines {
    pub(super) fn of(view: &View<'_>) -> Self {
        let runs = view.flow.acts.runs.iter();
        let backwards = runs.filter(|run| run.act == Act::Backward).map(|run| run.start).collect();
        let mut out = Self {
            by_line: HashMap::default(),
            weights: HashSet::default(),
            backwards,
            first_work: u32::MAX,
            is_plain: !view.places.show_torch(),
            is_sure: !view.places.is_compiled && view.timeline.lifetimes.initial_count() == 0,
        };
        for id in view.ids() {
            let (Some(start), Some(gone)) = (view.timeline.lifetimes.start(id).event(), view.gone(id)) else {
                continue;
            };
            let has_outlived = out.has_backward(start.0, gone.0);
            let line = out.by_line.entry(view.timeline.events.stack(start)).or_default();
            match view.flow.acts.at(gone.0) {
                Act::Backward => line.used += 1,
                _ if has_outlived => line.kept += 1,
                _ => line.brief += 1,
            }
        }
        out.find_weights(view);
        out
    }

    fn has_backward(&self, start: u32, end: u32) -> bool {
        let next = self.backwards.partition_point(|&backward| backward <= start);
        self.backwards.get(next).is_some_and(|&backward| backward < end)
    }

    /// Functions that make blocks before any line makes temporaries, and of which none is given back.
    fn find_weights(&mut self, view: &View<'_>) {
        let mut made: HashMap<u32, u32> = HashMap::default();
        let mut others: HashSet<u32> = HashSet::default();
        for id in view.ids() {
            let Some(start) = view.timeline.lifetimes.start(id).event() else { continue };
            let stack = view.timeline.events.stack(start);
            let place = view.places.get(stack);
            if place.part != Part::Main {
                continue;
            }
            if self.by_line.get(&stack).is_some_and(|line| 0 < line.used + line.brief) {
                self.first_work = self.first_work.min(start.0);
            }
            if self.first_work <= start.0 || view.gone(id).is_some() {
                others.insert(place.calling_code);
            } else {
                *made.entry(place.calling_code).or_default() += 1;
            }
        }
        let is_many = |&(code, count): &(u32, u32)| MIN_WEIGHTS <= count && !others.contains(&code);
        self.weights = made.into_iter().filter(is_many).map(|(code, _)| code).collect();
    }

    /// What a block is that the program's own code makes.
    pub(super) fn verdict(&self, view: &View<'_>, id: AllocId, stack: StackId, start: EventIx) -> Verdict {
        let line = self.by_line.get(&stack).copied().unwrap_or_default();
        let gone = view.gone(id);
        let is_used = gone.is_some_and(|gone| view.flow.acts.at(gone.0) == Act::Backward);
        let place = view.places.get(stack);
        let is_weight = place.for_weights || place.in_init || self.weights.contains(&place.calling_code);
        if is_used {
            Verdict::new(Category::Activation, RuleId::GoneInBackward)
        } else if line.kept < line.used {
            Verdict::new(Category::Activation, RuleId::LikeGoneInBackward)
        } else if gone.is_some_and(|gone| !self.has_backward(start.0, gone.0)) {
            Verdict::new(Category::Temporary, RuleId::BetweenSteps)
        } else if self.is_sure && self.is_plain && is_weight && gone.is_none() {
            Verdict::new(Category::Parameter, RuleId::WeightCode)
        } else if place.computes {
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

    /// Categories of weights, batch and activations at the end of a forward after so many trainings, and the phase.
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
                    let id = live.find(|&id| timeline.lifetimes.addr(id, &timeline.events) == addr);
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
    fn weights_batches_and_activations_are_told_by_what_lines_do() {
        let (weights, batch) = (Category::Parameter, Category::Unknown);
        for iterations in 0..3 {
            let of = Category::Activation;
            // Without a call of a model, all that comes before the backward counts as its data.
            assert_eq!(after(iterations), ([weights, batch, of, of], Phase::Data), "{iterations}");
        }
    }
}
