//! A first call of a model that does not train: the blocks that are left, and the head.

use super::in_forward::Layers;
use super::parameters::Parameters;
use super::rounds::Rounds;
use super::step_writer::StepWriter;
use super::tail::Logits;
use super::{First, Written};
use crate::projection::course::{Stage, Structure, Unprojected};
use oomscope_analysis::is_named_after_evaluation;
use oomscope_model::Moment;
use oomscope_simulator::Until;

impl First<'_> {
    /// Write the rest of it, given its first event.
    pub(super) fn rest_of_call(&self, start: u32) -> Result<Written, Unprojected> {
        let Self { computation, failure, .. } = *self;
        let run = &computation.run;
        let failed = run.recording.events.get(failure.event);
        let trains = run.stacks_with_before(
            |code| code.is_named_after_training(),
            |code| is_named_after_evaluation(code.plain_function()),
        );
        if trains.has(failed.stack) {
            // It may be a training pass that failed too early to show that it keeps a graph.
            return Err(Unprojected::NoEarlierBlock);
        }
        let parameters = Parameters::of(run, failure).ok_or(Unprojected::NoEarlier)?;
        let events = &(start..failure.event.0);
        let rounds = Rounds::of_call(computation, failure, events).ok_or(Unprojected::NoEarlierBlock)?;
        let Layers { before, count, logits } = self.layers(&parameters, events)?;
        let repetition = rounds.repetition().ok_or(Unprojected::NoEarlierBlock)?;
        let block = rounds.begun(repetition);
        if block <= before || count < block {
            return Err(Unprojected::OtherBlocks);
        }
        let mut step = StepWriter::new(failed, self.kept_at(events, Moment(failure.event.0)));
        rounds.write(repetition, count, &mut step)?;
        // What keeps something of each block, keys and values, generates: of its logits, it needs those of the last token. A head
        // that is tied does not show that it is used.
        let generates = count < rounds.kept_by(&step.kept);
        if let Some(Logits { bytes, .. }) = logits.filter(|logits| !generates && !logits.is_tied) {
            let logits = step.make_of_size(self.stacks.forward, bytes);
            step.drop(self.stacks.forward, logits);
        }
        let of_step = step.written();
        let stage = Stage::Block { block, count, gets_wider: false };
        Ok(Written {
            events: step.into_events(),
            of_step,
            until: Until::Call,
            structure: Structure { stage, assumes: None, summed_bytes: None },
        })
    }
}
