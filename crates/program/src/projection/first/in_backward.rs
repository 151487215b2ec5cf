//! A first step whose request failed in the backward.

use super::backward::Backward;
use super::gradients::Gradients;
use super::parameters::Parameters;
use super::step_writer::{Block, StepWriter};
use super::{First, Whole, Written};
use crate::projection::course::{Stage, Unprojected};
use crate::{Dependence, Pass};
use oomscope_model::{AllocId, Moment};
use std::collections::VecDeque;

impl First<'_> {
    /// Write the rest of it.
    pub(super) fn rest_of_backward(&self, pass: &Pass) -> Result<Written, Unprojected> {
        let Self { computation, failure, .. } = *self;
        let run = &computation.run;
        let parameters = Parameters::of(run, failure).ok_or(Unprojected::NoEarlier)?;
        let forward = &(pass.events.start..pass.backward);
        let whole = self.kept_at(forward, Moment(pass.backward));
        let mut step = StepWriter::new(
            run.recording.events.get(failure.event),
            self.kept_at(forward, Moment(failure.event.0)),
        );
        let made = run.made_in(&(pass.backward..failure.event.0));
        let made: Vec<AllocId> = made.filter(|&id| failure.is_before_end_of(run.recording, id)).collect();
        let (of_parameters, of_results): (Vec<AllocId>, Vec<AllocId>) =
            made.into_iter().partition(|&id| computation.dependence(id) == Dependence::Gradient);
        let mut of_results: VecDeque<Block> = of_results.into_iter().map(|id| self.block(id)).collect();
        let mut gradients = Gradients::of(&parameters.trained, of_parameters.iter().map(|&id| run.bytes(id)));
        let asked = step.make(run.recording.events.stack(failure.event), failure.bytes);
        let mut made: Vec<Block> = of_parameters.into_iter().map(|id| self.block(id)).collect();
        match gradients.left.iter().rposition(|&bytes| failure.is_for(bytes)) {
            Some(at) => {
                gradients.left.remove(at);
                made.push(asked);
            }
            None => of_results.push_back(asked),
        }
        let Gradients { left, trained } = gradients;
        let kept = std::mem::take(&mut step.kept).into_values().collect();
        let backward = Backward { stack: self.stacks.backward, kept, of_results, gradients: left };
        Ok(self.finish(
            step,
            Whole { start: pass.events.start, stage: Stage::Backward, kept: whole, trained },
            backward,
            made,
        ))
    }
}
