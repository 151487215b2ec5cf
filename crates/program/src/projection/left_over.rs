//! What the first iteration left behind, where no iteration before it shows what becomes of such memory in the next one.
//!
//! A variable of the loop holds its value until the statement that makes the next one is over, and gradients are dropped before a
//! backward makes new ones.

use super::counterparts::Counterparts;
use super::earlier::Earlier;
use super::failure::Failure;
use crate::Run;
use foldhash::HashSet;
use oomscope_analysis::{Category, Phase};
use oomscope_model::{AllocId, FrameId, Moment, StackId};

/// What is left over, and goes when something else shows that its time is over.
#[derive(Debug)]
pub(super) struct LeftOver<'a> {
    run: Run<'a>,
    /// How many frames all stacks of the iteration have in common, from the outermost on: those that lead to its loop.
    loop_depth: usize,
    values: Vec<Value>,
    /// Gradients, until the backward.
    gradients: Vec<AllocId>,
    /// Those whose counterpart is made.
    is_made: HashSet<AllocId>,
}

/// Something that a variable holds.
#[derive(Debug)]
struct Value {
    id: AllocId,
    /// The line of the loop that made it.
    line: Option<FrameId>,
}

impl<'a> LeftOver<'a> {
    /// What the earlier iteration left, if it is the first; else nothing.
    pub(super) fn of(
        run: Run<'a>,
        failure: &Failure,
        earlier: &Earlier,
        counterparts: &Counterparts,
    ) -> Self {
        let (values, gradients, is_made) = (Vec::new(), Vec::new(), HashSet::default());
        let mut out = Self { run, loop_depth: 0, values, gradients, is_made };
        if earlier.index != 0 {
            return out;
        }
        out.loop_depth = common_depth(&run, earlier);
        out.is_made.extend(counterparts.in_step.iter().map(|&(id, _)| id));
        let is_left = |&id: &AllocId| failure.is_before_end_of(run.recording, id);
        let is_in_backward = run.attribution.phases.phase_at(Moment(failure.event.0)) == Phase::Backward;
        for id in run.made_in(&earlier.events).filter(is_left) {
            match run.category(id) {
                Category::Parameter | Category::OptimizerState => {}
                Category::Gradient if is_in_backward => {}
                Category::Gradient => out.gradients.push(id),
                _ => out.values.push(Value { id, line: out.line(run.recording.stack(id)) }),
            }
        }
        out
    }

    /// Note that the counterpart of an allocation is made.
    pub(super) fn note_made(&mut self, id: AllocId) {
        self.is_made.insert(id);
    }

    /// What goes before an event that makes something with a stack in a phase.
    pub(super) fn gone_before(&mut self, stack: StackId, phase: Phase) -> Vec<AllocId> {
        let mut gone = Vec::new();
        if self.values.is_empty() && self.gradients.is_empty() {
            return gone;
        }
        if phase == Phase::Backward {
            gone.append(&mut self.gradients);
        }
        let line = self.line(stack);
        let is_made = &self.is_made;
        let is_over = |value: &mut Value| line.is_some() && value.line != line && is_made.contains(&value.id);
        gone.extend(self.values.extract_if(.., is_over).map(|value| value.id));
        gone
    }

    /// The line of the loop that a stack passes through.
    fn line(&self, stack: StackId) -> Option<FrameId> {
        let frames = self.run.recording.snapshot().stacks.frames(stack);
        frames.len().checked_sub(self.loop_depth + 1).and_then(|at| frames.get(at).copied())
    }
}

/// How many frames all stacks of an iteration have in common, from the outermost on.
fn common_depth(run: &Run<'_>, earlier: &Earlier) -> usize {
    let stacks: HashSet<StackId> = run.made_in(&earlier.events).map(|id| run.recording.stack(id)).collect();
    let table = &run.recording.snapshot().stacks;
    let mut stacks = stacks.iter().map(|&stack| table.frames(stack)).filter(|frames| !frames.is_empty());
    let Some(first) = stacks.next() else { return 0 };
    stacks.fold(first.len(), |depth, frames| {
        let both = first.iter().rev().zip(frames.iter().rev());
        both.take(depth).take_while(|(a, b)| a == b).count()
    })
}
