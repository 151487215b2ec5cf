//! The rest of a first step, which no earlier one shows, from the structure of the program.
//!
//! In the forward, the blocks that are left do what those before them did (`rounds`): how many there are, the parameters show, which
//! repeat as often (`parameters`). Then come the head and the loss (`tail`), the backward as the mirror of the forward (`backward`),
//! with gradients as large as the parameters (`gradients`), and the step of the optimizer (`optimizer`), whose state the next step
//! has from its start on. `step_writer` writes them down.

mod backward;
mod gradients;
mod held;
mod in_backward;
mod in_call;
mod in_forward;
mod in_optimizer;
mod in_stages;
mod optimizer;
mod parameters;
mod rounds;
mod stages;
mod step_writer;
mod tail;

use self::backward::Backward;
use self::optimizer::{SeenOptimizer, Update};
use self::step_writer::{Block, Kept, StepWriter};
use super::course::{AssumedOptimizer, Stage, Structure, Unprojected};
use super::failure::Failure;
use crate::share::MUCH;
use crate::{Computation, Run, Span, StackSet, in_loss};
use oomscope_analysis::{Category, FrameCode, Phase, UnseenStacks};
use oomscope_model::{AllocId, DeviceId, Event, Moment, SaturatingSum as _};
use oomscope_simulator::Until;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// The rest of a first step, and the step after it.
pub(super) struct Written {
    /// The failed request, and what would have followed it.
    pub(super) events: Vec<Event>,
    /// How many of these belong to the first step, or to the call.
    pub(super) of_step: usize,
    /// How far they go.
    pub(super) until: Until,
    /// What they follow.
    pub(super) structure: Structure,
}

/// The failed request, and what would have followed it.
///
/// # Errors
/// The structure does not show what would have.
pub(super) fn events(computation: &Computation<'_>, failure: &Failure) -> Result<Written, Unprojected> {
    let run = &computation.run;
    if computes_elsewhere(run) {
        return Err(Unprojected::SeveralDevices);
    }
    let stacks = UnseenStacks::behind(run.recording.snapshot());
    let first = First { computation, failure, stacks, in_loss: in_loss(run) };
    // What earlier passes did would have to be like what this one does.
    let mut passes = computation.spans.passes().filter(|pass| pass.events.start <= failure.event.0);
    let (first_pass, is_only) = (passes.next(), passes.next().is_none());
    let phase = run.attribution.phases.phase_at(Moment::after(failure.event));
    if let (Phase::Eval, Some(Span::Eval(call, false))) = (phase, computation.spans.at(failure.event)) {
        return first.rest_of_call(call.start);
    }
    let pass = first_pass.ok_or(Unprojected::NoEarlier)?;
    match phase {
        Phase::Forward if is_only => first.rest_of_forward(pass),
        Phase::Backward if is_only => first.rest_of_backward(pass),
        Phase::Optimizer if is_only => Ok(first.rest_of_optimizer(pass)),
        _ => Err(Unprojected::NoEarlier),
    }
}

/// Whether the program makes a good part of as much on another device. Then a model may lie on both, and what each device does in a
/// step is only a part of it.
fn computes_elsewhere(run: &Run<'_>) -> bool {
    let here = run.recording.active.peak().1;
    let others = run.recording.snapshot().timelines.iter();
    let mut others =
        others.filter(|other| other.device != run.recording.device && other.device != DeviceId::HOST);
    others.any(|other| MUCH.is_reached(other.active.peak().1, here))
}

/// What the whole first step computes.
struct Whole {
    /// Its first event.
    start: u32,
    /// Where it failed.
    stage: Stage,
    /// What the forward keeps for the backward.
    kept: BTreeMap<u32, Kept>,
    /// The sizes of the parameters that are trained.
    trained: Vec<u64>,
}

/// A first step.
struct First<'a> {
    computation: &'a Computation<'a>,
    failure: &'a Failure,
    stacks: UnseenStacks,
    /// The stacks of losses over classes.
    in_loss: StackSet,
}

impl First<'_> {
    /// What some events of a forward keep at a moment.
    fn kept_at(&self, forward: &Range<u32>, moment: Moment) -> BTreeMap<u32, Kept> {
        let run = &self.computation.run;
        let lifetimes = &run.recording.lifetimes;
        let is_kept = |id: &AllocId| {
            lifetimes.start(*id) <= moment
                && lifetimes.end(*id).is_none_or(|end| moment < end)
                && !matches!(run.category(*id), Category::Input | Category::Parameter)
        };
        let kept = |id: AllocId| {
            let (block, operations) = (self.block(id), self.operations(id));
            (id.0, Kept { block, operations, stack: run.recording.stack(id) })
        };
        run.made_in(forward).filter(is_kept).map(kept).collect()
    }

    fn block(&self, id: AllocId) -> Block {
        let timeline = self.computation.run.recording.timeline();
        Block { addr: timeline.addr(id), bytes: timeline.size(id) }
    }

    /// How many operations of the backward need what an allocation of the forward made.
    fn operations(&self, id: AllocId) -> usize {
        let is_loss = self.in_loss.has(self.computation.run.recording.stack(id));
        // Autocast's loss takes back what is half as large.
        if is_loss && !self.computation.has_weight_copies() { 2 } else { 1 }
    }

    /// Write the rest of the backward, the step of the optimizer, and the next step, given what the whole forward keeps.
    fn finish(
        &self,
        mut step: StepWriter,
        whole: Whole,
        backward: Backward,
        mut made: Vec<Block>,
    ) -> Written {
        let run = &self.computation.run;
        made.extend(backward.write(&mut step));
        let mut before = run.recording.lifetimes.live_at(Moment(whole.start));
        let has_state = before.any(|id| run.category(id) == Category::OptimizerState);
        let trained = whole.trained.clone();
        let update =
            if has_state { Update::later(trained, true) } else { Update::first(trained, self.seen(&whole)) };
        let assumed = (update.assumes, update.is_at_once);
        update.write(&mut step, self.stacks);
        self.next(step, whole, made, assumed)
    }

    /// The optimizer, where its step calls the forward.
    fn seen(&self, whole: &Whole) -> Option<SeenOptimizer> {
        let is_in = |name: &'static str| {
            self.is_in(whole, move |code| code.torch_optimizer().is_some_and(|file| file == name))
        };
        if is_in("adam.py") || is_in("adamw.py") {
            Some(SeenOptimizer::Adam)
        } else {
            is_in("sgd.py").then_some(SeenOptimizer::Sgd)
        }
    }

    /// Whether the forward runs in such code.
    fn is_in(&self, whole: &Whole, has: impl Fn(FrameCode<'_>) -> bool + Send + Sync) -> bool {
        let stacks = self.computation.run.stacks_with(has);
        whole.kept.values().any(|kept| stacks.has(kept.stack))
    }

    /// Write the step after the first, which has the state of the optimizer from its start on. It drops the gradients that the
    /// first made.
    fn next(
        &self,
        mut step: StepWriter,
        whole: Whole,
        gradients: Vec<Block>,
        (assumes, is_at_once): (Option<AssumedOptimizer>, bool),
    ) -> Written {
        let Self { stacks, .. } = *self;
        let of_step = step.written();
        let clears_late = self.is_in(&whole, |code| code.is_optimizer_of_lightning());
        let (early, late) = if clears_late { (Vec::new(), gradients) } else { (gradients, Vec::new()) };
        for block in early {
            step.drop(stacks.step, block);
        }
        let Whole { stage, kept, trained, .. } = whole;
        let again = |kept: Kept| Kept { block: step.make(kept.stack, kept.block.bytes), ..kept };
        let kept = kept.into_values().map(again).collect();
        for block in late {
            step.drop(stacks.forward, block);
        }
        let summed_bytes = trained.iter().copied().saturating_sum();
        let summed_bytes = (stage != Stage::Optimizer).then_some(summed_bytes);
        let (of_results, gradients) = (VecDeque::new(), trained.clone());
        Backward { stack: stacks.backward, kept, of_results, gradients }.write(&mut step);
        Update::later(trained, is_at_once).write(&mut step, stacks);
        let structure = Structure { stage, assumes, summed_bytes };
        Written { events: step.into_events(), of_step, until: Until::Step, structure }
    }
}
