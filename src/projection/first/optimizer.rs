//! A step of an optimizer: the first sets up its state.

use super::gradients::take;
use super::step_writer::StepWriter;
use crate::analysis::{Category, UnseenStacks};
use crate::model::{AllocId, Moment, StackId};
use crate::program::{AdamStep, COUNTER_BYTES, OptimizerFacts, Run};
use crate::projection::failure::Failure;
use foldhash::HashSet;
use std::collections::BTreeMap;

/// Adam keeps two tensors for each parameter.
const STATES_OF_ADAM: usize = 2;

/// What is left of a step of an optimizer.
pub(super) struct Update {
    /// The sizes of the state that is not yet made.
    state: Vec<u64>,
    /// The sizes of what is needed only within the step.
    temporaries: Vec<u64>,
    /// The sizes of the parameters that are trained.
    pub(super) trained: Vec<u64>,
    /// Whether nothing shows which optimizer it is, and it is taken for Adam.
    pub(super) assumes_adam: bool,
}

impl Update {
    /// The first step of Adam, which computes on all parameters at once.
    pub(super) fn first_of_adam(trained: Vec<u64>) -> Self {
        let state = trained.iter().flat_map(|&bytes| [bytes; STATES_OF_ADAM]).collect();
        Self { state, temporaries: trained.clone(), trained, assumes_adam: true }
    }

    /// A later step of Adam, which has its state.
    pub(super) fn later(trained: Vec<u64>) -> Self {
        Self { state: Vec::new(), temporaries: trained.clone(), trained, assumes_adam: false }
    }

    /// What is left of the step in which a request failed.
    pub(super) fn of(run: &Run<'_>, failure: &Failure) -> Self {
        let live = |category: Category| -> Vec<AllocId> {
            let live = run.timeline.lifetimes.live_at(Moment(failure.event.0));
            live.filter(|&id| run.category(id) == category).collect()
        };
        let mut gradients = live(Category::Gradient);
        gradients.sort_unstable();
        // The backward makes them in the reverse order of the parameters.
        let trained: Vec<u64> = gradients.iter().rev().map(|&id| run.bytes(id)).collect();
        let facts = OptimizerFacts::of(run);
        let mut made = live(Category::OptimizerState);
        made.retain(|&id| COUNTER_BYTES < run.bytes(id));
        let lines: HashSet<StackId> = made.iter().map(|&id| run.timeline.stack(id)).collect();
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
        Self { state, temporaries, trained, assumes_adam: facts.adam.is_none() && made.is_empty() }
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
