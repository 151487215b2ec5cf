//! The backward as the mirror of the forward: it gives back what was kept, the latest first, and makes the gradients of the
//! parameters, those of the latest first.

use super::step_writer::{Block, Kept, StepWriter};
use oomscope_model::{Bytes, StackId};
use std::collections::{BTreeMap, VecDeque};

/// How many gradients of results are there at once: that of a block's result, which its residual adds to, and that of the
/// operation under way.
const AT_ONCE: usize = 2;

/// What is left of a backward.
pub(super) struct Backward {
    pub(super) stack: StackId,
    /// What was kept, in the order of the forward.
    pub(super) kept: Vec<Kept>,
    /// Gradients of results that are there already, in their order.
    pub(super) of_results: VecDeque<Block>,
    /// The sizes of the gradients that are not yet made, in the order of their parameters.
    pub(super) gradients: Vec<u64>,
}

impl Backward {
    /// Write it, and return the gradients of parameters that it makes.
    pub(super) fn write(mut self, step: &mut StepWriter) -> Vec<Block> {
        // Those that no operation used yet.
        let mut ready: BTreeMap<Bytes, usize> = BTreeMap::new();
        for block in &self.of_results {
            *ready.entry(block.bytes).or_default() += 1;
        }
        let (all, count) = (self.gradients.len(), self.kept.len());
        let mut left = std::mem::take(&mut self.gradients).into_iter().rev();
        let mut made = Vec::new();
        for (done, kept) in (1..).zip(std::mem::take(&mut self.kept).into_iter().rev()) {
            for _ in 0..kept.operations {
                match ready.get_mut(&kept.block.bytes).filter(|left| **left != 0) {
                    Some(left) => *left -= 1,
                    None => self.of_results.push_back(step.make(self.stack, kept.block.bytes)),
                }
                self.drop_results(AT_ONCE, step);
            }
            step.drop(self.stack, kept.block);
            // As many as the kept blocks that are done with, as if each belonged to as many.
            let due = all * done / count;
            let next = due.saturating_sub(made.len());
            let next = left.by_ref().take(next);
            made.extend(next.map(|bytes| step.make_of_size(self.stack, bytes)));
        }
        self.drop_results(0, step);
        made.extend(left.map(|bytes| step.make_of_size(self.stack, bytes)));
        made
    }

    /// Drop the oldest gradients of results, but some.
    fn drop_results(&mut self, but: usize, step: &mut StepWriter) {
        let gone = self.of_results.len().saturating_sub(but);
        for oldest in self.of_results.drain(..gone) {
            step.drop(self.stack, oldest);
        }
    }
}
