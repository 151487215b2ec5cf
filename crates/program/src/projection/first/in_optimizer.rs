//! A first step whose request failed in the step of the optimizer.

use super::optimizer::Update;
use super::step_writer::StepWriter;
use super::{First, Whole, Written};
use crate::Pass;
use crate::projection::course::Stage;
use oomscope_analysis::Category;
use oomscope_model::Moment;
use std::collections::BTreeMap;

impl First<'_> {
    /// Write the rest of it.
    pub(super) fn rest_of_optimizer(&self, pass: &Pass) -> Written {
        let Self { computation, failure, stacks, .. } = *self;
        let run = &computation.run;
        let failed = run.recording.events.get(failure.event);
        let mut step = StepWriter::new(failed, BTreeMap::new());
        let kept = self.kept_at(&(pass.events.start..pass.backward), Moment(pass.backward));
        let update = Update::of(run, failure);
        step.make(failed.stack, failure.bytes);
        let whole = Whole {
            start: pass.events.start,
            stage: Stage::Optimizer,
            kept,
            trained: update.trained.clone(),
        };
        let assumed = (update.assumes, update.is_at_once);
        update.write(&mut step, stacks);
        let live = run.recording.lifetimes.live_at(Moment(failure.event.0));
        let gradients =
            live.filter(|&id| run.category(id) == Category::Gradient).map(|id| self.block(id)).collect();
        self.next(step, whole, gradients, assumed)
    }
}
