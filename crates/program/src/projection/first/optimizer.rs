//! A step of an optimizer: the first sets up its state.

use super::gradients::take;
use super::step_writer::StepWriter;
use crate::projection::course::AssumedOptimizer;
use crate::projection::failure::Failure;
use crate::{AdamStep, COUNTER_BYTES, OptimizerFacts, Run};
use foldhash::HashSet;
use oomscope_analysis::{Category, UnseenStacks};
use oomscope_model::{AllocId, Moment, StackId};
use std::collections::BTreeMap;

/// Adam keeps two tensors for each parameter.
const STATES_OF_ADAM: usize = 2;

/// An optimizer whose step calls the forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SeenOptimizer {
    Adam,
    Sgd,
}

/// What is left of a step of an optimizer.
pub(super) struct Update {
    /// The sizes of the state that is not yet made.
    state: Vec<u64>,
    /// The sizes of what is needed only within the step.
    temporaries: Vec<u64>,
    /// The sizes of the parameters that are trained.
    pub(super) trained: Vec<u64>,
    /// What the optimizer is taken for, where that is not seen.
    pub(super) assumes: Option<AssumedOptimizer>,
    /// Whether its steps compute on all parameters at once.
    pub(super) is_at_once: bool,
}

impl Update {
    /// The first step of an optimizer.
    pub(super) fn first(trained: Vec<u64>, seen: Option<SeenOptimizer>) -> Self {
        let (states, assumes, is_at_once) = match seen {
            Some(SeenOptimizer::Sgd) => (1, Some(AssumedOptimizer::Momentum), false),
            Some(SeenOptimizer::Adam) => (STATES_OF_ADAM, None, true),
            None => (STATES_OF_ADAM, Some(AssumedOptimizer::Adam), true),
        };
        let state = trained.iter().flat_map(|&bytes| std::iter::repeat_n(bytes, states)).collect();
        Self { state, assumes, ..Self::later(trained, is_at_once) }
    }

    /// A later step, which has its state.
    pub(super) fn later(trained: Vec<u64>, is_at_once: bool) -> Self {
        let temporaries = if is_at_once { trained.clone() } else { Vec::new() };
        Self { state: Vec::new(), temporaries, trained, assumes: None, is_at_once }
    }

    /// What is left of the step in which a request failed.
    pub(super) fn of(run: &Run<'_>, failure: &Failure) -> Self {
        let live = |category: Category| -> Vec<AllocId> {
            let live = run.recording.lifetimes.live_at(Moment(failure.event.0));
            live.filter(|&id| run.category(id) == category).collect()
        };
        let mut gradients = live(Category::Gradient);
        gradients.sort_unstable();
        // The backward makes them in the reverse order of the parameters.
        let trained: Vec<u64> = gradients.iter().rev().map(|&id| run.bytes(id)).collect();
        let facts = OptimizerFacts::of(run);
        let mut made = live(Category::OptimizerState);
        made.retain(|&id| COUNTER_BYTES < run.bytes(id));
        let lines: HashSet<StackId> = made.iter().map(|&id| run.recording.stack(id)).collect();
        let states = if facts.adam.is_some() || made.is_empty() { STATES_OF_ADAM } else { lines.len() };
        let mut state: Vec<u64> =
            trained.iter().flat_map(|&bytes| std::iter::repeat_n(bytes, states)).collect();
        take(&mut state, counts(run, &made));
        let is_at_once = !facts.is_sgd && facts.adam != Some(AdamStep::ForLoop);
        let mut temporaries = if is_at_once { trained.clone() } else { Vec::new() };
        take(&mut temporaries, counts(run, &live(Category::Temporary)));
        for sizes in [&mut state, &mut temporaries] {
            if let Some(at) = sizes.iter().position(|&bytes| failure.is_for(bytes)) {
                sizes.remove(at);
                break;
            }
        }
        let assumes = (facts.adam.is_none() && made.is_empty()).then_some(AssumedOptimizer::Adam);
        Self { state, temporaries, trained, assumes, is_at_once }
    }

    /// Write it.
    pub(super) fn write(self, step: &mut StepWriter, stacks: UnseenStacks) {
        for bytes in self.state {
            step.make_of_size(stacks.state, bytes);
        }
        let make = |bytes: u64| step.make_of_size(stacks.step, bytes);
        let temporaries: Vec<_> = self.temporaries.into_iter().map(make).collect();
        for block in temporaries {
            step.drop(stacks.step, block);
        }
    }
}

/// How many allocations have each size.
fn counts(run: &Run<'_>, ids: &[AllocId]) -> BTreeMap<u64, usize> {
    let mut counts = BTreeMap::new();
    for &id in ids {
        *counts.entry(run.bytes(id)).or_default() += 1;
    }
    counts
}
