//! Functions of the program's own that make weights.

use super::function_blocks::{Fate, FunctionBlock, function_blocks};
use crate::attribution::RuleId;
use crate::attribution::claims::Claims;
use crate::attribution::facts::{StackFacts, StackTrait};
use crate::attribution::thresholds::MIN_AGREEING;
use crate::attribution::view::View;
use foldhash::{HashMap, HashSet};
use oomscope_model::{AllocId, Bytes, StackId};

/// The functions that make weights.
pub(super) struct WeightCode {
    /// Functions that make blocks of several sizes before anything is computed, all of which stay; in programs that do not
    /// train, as gradients show weights better.
    functions: HashSet<u32>,
    /// The event before which nothing is computed.
    pub(super) first_work: u32,
    /// Whether modules have parameters.
    have_modules: bool,
}

impl WeightCode {
    pub(super) fn of(view: &View<'_>, claims: &Claims) -> Self {
        let by_modules = view.ids().filter(|&id| claims.is_by(id, RuleId::ModuleLoad));
        let by_modules: HashSet<Bytes> = by_modules.map(|id| view.size(id)).collect();
        // Where gradients are computed, they show weights better.
        let is_from_start = !view.stacks.is_compiled && view.timeline.lifetimes.initial_count() == 0;
        let learns_from_functions = is_from_start && !view.device.has_backward();
        let is_needed = learns_from_functions || view.device.calls.is_empty();
        let blocks = if is_needed { function_blocks(view) } else { Vec::new() };
        let first_work = first_work(view, &blocks);
        let mut kept: HashMap<u32, HashSet<Bytes>> = HashMap::default();
        let mut others: HashSet<u32> = HashSet::default();
        for block in blocks.iter().filter(|block| block.fate != Fate::Scratch) {
            if first_work <= block.made.0 || block.fate == Fate::Goes {
                others.insert(block.code);
            } else {
                kept.entry(block.code).or_default().insert(view.size(block.id));
            }
        }
        if !learns_from_functions {
            kept.clear();
        }
        let makes_weights = |(code, sizes): &(u32, HashSet<Bytes>)| {
            // Blocks as large as parameters of modules are copies, or buffers for them.
            let are_own = sizes.iter().any(|size| !by_modules.contains(size));
            MIN_AGREEING <= sizes.len() && are_own && !others.contains(code)
        };
        let functions = kept.into_iter().filter(makes_weights).map(|(code, _)| code).collect();
        Self { functions, first_work, have_modules: view.stacks.have_modules() }
    }

    /// Whether names of functions say that weights are made. Beside modules, only a function that initialises them says so:
    /// others may make or load data.
    pub(super) fn is_named(&self, facts: StackFacts) -> bool {
        let may_be = facts.has(StackTrait::MakesWeights) || facts.has(StackTrait::InInit);
        facts.has(StackTrait::InitsWeights) || (may_be && !self.have_modules)
    }

    /// Whether a block that stays is a weight.
    pub(super) fn makes(&self, view: &View<'_>, id: AllocId, facts: StackFacts) -> bool {
        let is_early = view.alloc_event(id).is_some_and(|made| made.0 < self.first_work);
        let makes = self.is_named(facts) || self.functions.contains(&facts.calling_code);
        is_early && makes && view.free_event(id).is_none()
    }
}

/// The first event of a call; without calls, of a line of the program's own whose blocks go.
fn first_work(view: &View<'_>, blocks: &[FunctionBlock]) -> u32 {
    if let Some(call) = view.device.calls.first() {
        return call.start;
    }
    let line = |block: &FunctionBlock| view.timeline.events.stack(block.made);
    let computes: HashSet<StackId> =
        blocks.iter().filter(|block| block.fate == Fate::Goes).map(line).collect();
    blocks.iter().find(|block| computes.contains(&line(block))).map_or(u32::MAX, |block| block.made.0)
}

#[cfg(test)]
mod tests {
    use crate::{Attribution, Category, Phase, UserRules};
    use oomscope_fixtures::programs::{BACKWARD, Program};

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
                let recording = program.finish();
                let found = Attribution::of(&recording, &UserRules::default());
                let end = recording.end();
                let category = |addr| {
                    let mut live = recording.lifetimes.live_at(end);
                    let id = live.find(|&id| recording.addr(id) == addr);
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
        let (weights, of) = (Category::Parameter, Category::Activation);
        for iterations in 0..3 {
            // One batch may be anything that is kept; more show that its line makes inputs.
            let batch = if iterations == 0 { Category::Unknown } else { Category::Input };
            assert_eq!(after(iterations), ([weights, batch, of, of], Phase::Forward), "{iterations}");
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
        let recording = program.finish();
        let found = Attribution::of(&recording, &UserRules::default());
        let mut live = recording.lifetimes.live_at(recording.end());
        [weights[0], data].map(|addr| {
            let id = live.find(|&id| recording.addr(id) == addr);
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
