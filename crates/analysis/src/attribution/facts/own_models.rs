//! Models without modules: functions of the program's own that compute, in a program whose stacks show no module's call.
//!
//! A function is part of a model if what it makes is for a backward, or if it computes by `torch.nn.functional`. A function
//! that starts backwards, loads batches, steps an optimizer or makes weights further in is a loop around the model: of it,
//! only the lines whose blocks are for a backward belong to the model. What makes weights is no part of it, whatever it computes.

use super::activities::{Activities, Activity};
use super::frame_facts::FactsByFrame;
use super::frees::free_event;
use super::stack_facts::{CodePart, StackFacts};
use super::stack_traits::StackTrait;
use crate::attribution::knowledge::Role;
use foldhash::{HashMap, HashSet};
use oomscope_model::{FrameId, Snapshot, StackId, Timeline};

/// The code that works as a model.
#[derive(Debug, Default)]
pub(super) struct OwnModels {
    /// Functions, by file and name.
    pub(super) functions: HashSet<u32>,
    /// Lines of loops, by their stacks.
    pub(super) lines: HashSet<StackId>,
}

impl OwnModels {
    /// Find them; nothing if modules are called, or Python does not show.
    pub(super) fn of(snapshot: &Snapshot, frames: &FactsByFrame, by_stack: &[StackFacts]) -> Self {
        let mut out = Self::default();
        if by_stack.iter().any(|stack| stack.part == CodePart::Call && !stack.has(StackTrait::InOwnModel)) {
            return out;
        }
        let part = |stack: StackId| by_stack.get(stack.index()).map_or(CodePart::Nothing, |stack| stack.part);
        let mut lines: HashSet<StackId> = HashSet::default();
        for timeline in &snapshot.timelines {
            lines.extend(
                lines_of_graphs(timeline, by_stack).into_iter().filter(|&line| part(line) == CodePart::Main),
            );
        }
        let loops = loops(snapshot, frames, by_stack);
        let is_functional = |stack: &StackFacts| {
            let makes_weights = stack.has(StackTrait::InInit) || stack.has(StackTrait::MakesWeights);
            stack.part == CodePart::Main && stack.has(StackTrait::InFunctional) && !makes_weights
        };
        let functional = (0u32..).zip(by_stack).filter(|(_, stack)| is_functional(stack));
        let functional: Vec<StackId> = functional.map(|(id, _)| StackId(id)).collect();
        for stack in lines.iter().copied().chain(functional) {
            let Some(function) = innermost_own(frames, snapshot.stacks.frames(stack)) else { continue };
            if !loops.contains(&frames.code(function)) {
                out.functions.insert(frames.code(function));
            }
        }
        out.lines = lines;
        out
    }

    pub(super) fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.lines.is_empty()
    }
}

fn innermost_own(frames: &FactsByFrame, stack: &[FrameId]) -> Option<FrameId> {
    stack.iter().copied().find(|&id| matches!(frames.role(id), Role::Own | Role::Cache))
}

/// Functions around a backward, a batch, a step, or the making of weights.
fn loops(snapshot: &Snapshot, frames: &FactsByFrame, by_stack: &[StackFacts]) -> HashSet<u32> {
    let mut out = HashSet::default();
    for (id, facts) in (0u32..).zip(by_stack) {
        let is_around = match facts.part {
            CodePart::Backward => facts.has(StackTrait::StartsBackward),
            CodePart::Data
            | CodePart::Step
            | CodePart::State
            | CodePart::Foreach
            | CodePart::ZeroGrad
            | CodePart::Load
            | CodePart::Restore => true,
            CodePart::Main => facts.has(StackTrait::MakesWeights),
            _ => false,
        };
        if is_around {
            out.extend(snapshot.stacks.frames(StackId(id)).iter().map(|&id| frames.code(id)));
        }
    }
    out
}

/// The stacks most of whose blocks backwards free, rather than other code after a backward.
fn lines_of_graphs(timeline: &Timeline, by_stack: &[StackFacts]) -> HashSet<StackId> {
    let activities =
        Activities::of(timeline, |stack| by_stack.get(stack.index()).copied().unwrap_or_default());
    let backwards = activities.starts_of(Activity::Backward);
    let mut balance: HashMap<StackId, i64> = HashMap::default();
    let lifetimes = &timeline.lifetimes;
    for id in lifetimes.ids().skip(lifetimes.initial_count()) {
        let Some((made, freed)) = lifetimes.start(id).event().zip(free_event(lifetimes, id)) else {
            continue;
        };
        let next = backwards.partition_point(|&backward| backward <= made.0);
        let outlives_backward = backwards.get(next).is_some_and(|&backward| backward < freed.0);
        *balance.entry(timeline.events.stack(made)).or_default() += match activities.at(freed.0) {
            Activity::Backward => 1,
            _ if outlives_backward => -1,
            _ => 0,
        };
    }
    balance.into_iter().filter(|&(_, balance)| 0 < balance).map(|(stack, _)| stack).collect()
}
