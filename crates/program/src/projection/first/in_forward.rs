//! A first step whose request failed in the forward: the blocks that are left, the head and the loss.

use super::backward::Backward;
use super::held::is_result_held;
use super::parameters::{Parameters, Region};
use super::rounds::Rounds;
use super::stages::stages;
use super::step_writer::StepWriter;
use super::tail::{self, Head, Logits};
use super::{First, Whole, Written};
use crate::projection::course::{Stage, Unprojected};
use crate::share::MUCH;
use crate::{Computation, OperationKind, Pass};
use oomscope_model::{AllocId, Bytes, Event, Moment};
use std::collections::VecDeque;
use std::ops::Range;

/// The numbers of what the failed request would have made, of the logits, and of what their loss keeps.
const FAILED: AllocId = AllocId(u32::MAX - 3);
const COPY: AllocId = AllocId(u32::MAX - 2);
const LOGITS: AllocId = AllocId(u32::MAX - 1);
const LOSS: AllocId = AllocId(u32::MAX);

/// The blocks of a model, and what comes after them.
pub(super) struct Layers {
    /// How many blocks come before those that are alike to the last one.
    pub(super) before: usize,
    /// How many there are.
    pub(super) count: usize,
    /// The logits, if it has a vocabulary.
    pub(super) logits: Option<Logits>,
}

impl First<'_> {
    /// Write the rest of it.
    pub(super) fn rest_of_forward(&self, pass: &Pass) -> Result<Written, Unprojected> {
        let Self { computation, failure, .. } = *self;
        let run = &computation.run;
        let forward = &(pass.events.start..pass.backward);
        let parameters = Parameters::of(run, failure).ok_or(Unprojected::NoEarlier)?;
        let rounds = Rounds::of(computation, failure, forward).ok_or(Unprojected::NoEarlierBlock)?;
        let kept = self.kept_at(forward, Moment(failure.event.0));
        let mut step = StepWriter::new(run.recording.events.get(failure.event), kept);
        let stages = stages(&parameters)?;
        let stage = if stages.is_empty() {
            self.write_blocks(pass, &parameters, &rounds, &mut step)?
        } else {
            self.write_stages(&rounds, &stages, &mut step)?
        };
        let (kept, trained) = (step.kept.clone(), parameters.trained);
        let backward = Backward {
            stack: self.stacks.backward,
            kept: std::mem::take(&mut step.kept).into_values().collect(),
            of_results: VecDeque::new(),
            gradients: trained.clone(),
        };
        Ok(self.finish(step, Whole { start: pass.events.start, stage, kept, trained }, backward, Vec::new()))
    }

    /// Write what is left of a model whose blocks are alike, and its head.
    fn write_blocks(
        &self,
        pass: &Pass,
        parameters: &Parameters,
        rounds: &Rounds<'_>,
        step: &mut StepWriter,
    ) -> Result<Stage, Unprojected> {
        let Self { computation, failure, .. } = *self;
        let Layers { before, count, logits } =
            self.layers(parameters, &(pass.events.start..pass.backward))?;
        let is_held = is_result_held(computation, failure, pass, rounds.last());
        let is_autocast = computation.has_weight_copies();
        let head = logits.map(|logits| Head::of(logits.bytes, is_autocast).held(is_held));
        match rounds.repetition().map(|repetition| (repetition, rounds.begun(repetition))) {
            Some((repetition, block)) if before < block && block <= count => {
                rounds.write(repetition, count, step)?;
                if let Some(head) = head {
                    self.write_loss(head, Reached::Nothing, step);
                }
                Ok(Stage::Block { block, count, gets_wider: false })
            }
            None if count <= rounds.recorded() => {
                self.write_tail(rounds, head, step);
                Ok(Stage::Head)
            }
            Some(_) => Err(Unprojected::OtherBlocks),
            None => Err(Unprojected::NoEarlierBlock),
        }
    }

    /// The blocks of a model, and what comes after them, given the events of its forward.
    ///
    /// # Errors
    /// Much of the model is no block.
    pub(super) fn layers(
        &self,
        parameters: &Parameters,
        forward: &Range<u32>,
    ) -> Result<Layers, Unprojected> {
        let blocks = parameters.blocks();
        let region = blocks.last().ok_or(Unprojected::OtherBlocks)?;
        if blocks.iter().any(|other| parameters.width(other) != parameters.width(region)) {
            // They are of another stage, or of another model.
            return Err(Unprojected::OtherBlocks);
        }
        let before: usize = blocks[..blocks.len() - 1].iter().map(Region::count).sum();
        let after = parameters.bytes(region.range.end..parameters.sizes.len());
        let embedded = self.embedded_bytes(forward);
        let logits = embedded.and_then(|bytes| tail::logits(parameters, region, bytes));
        if logits.is_none() && MUCH.is_reached(after, parameters.bytes(0..parameters.sizes.len())) {
            return Err(Unprojected::OtherBlocks);
        }
        Ok(Layers { before, count: before + region.count(), logits })
    }

    /// The bytes of the features of all tokens, where a forward looks those up in a table.
    fn embedded_bytes(&self, forward: &Range<u32>) -> Option<u64> {
        let Self { computation, failure, .. } = *self;
        let made = computation.run.made_in(&(forward.start..failure.event.0));
        let embedded = made.filter(|&id| computation.operation_kind(id) == OperationKind::Embedding);
        embedded.map(|id| computation.run.bytes(id)).max()
    }

    /// Write what follows the blocks where the failed request does.
    fn write_tail(&self, rounds: &Rounds<'_>, head: Option<Head>, step: &mut StepWriter) {
        let Self { computation: Computation { run, .. }, failure, .. } = *self;
        let failed = run.recording.events.get(failure.event);
        let asked = failure.bytes.unsigned_abs();
        let is_of_loss = self.in_loss.has(failed.stack);
        let is_loss = is_of_loss && head.is_none_or(|head| head.is_loss(asked));
        let operations = if is_loss { head.map_or(2, |head| head.operations) } else { 1 };
        step.keep(FAILED, &failed, failure.bytes, operations);
        let Some(head) = head else { return };
        let is_large = head.is_large(asked);
        let of_loss = |id: &AllocId| self.in_loss.has(run.recording.stack(*id));
        let large = rounds.made_after().filter(|&id| head.is_large(run.bytes(id)));
        let (copies, mut logits): (Vec<AllocId>, Vec<AllocId>) = large.partition(of_loss);
        logits.extend((is_large && !is_of_loss).then_some(FAILED));
        if !is_loss {
            let has_copy = !copies.is_empty() || (is_large && is_of_loss);
            let reached = match (has_copy, logits.is_empty()) {
                (true, _) => Reached::Copy,
                (false, false) => Reached::Logits,
                (false, true) => Reached::Nothing,
            };
            self.write_loss(head, reached, step);
        }
        for id in logits.into_iter().filter(|_| !head.is_held) {
            step.release(id, &failed);
        }
    }

    /// Write logits and what their loss keeps, but for what is there.
    fn write_loss(&self, head: Head, reached: Reached, step: &mut StepWriter) {
        let events = &self.computation.run.recording.events;
        let like = Event { stack: self.stacks.forward, ..events.get(self.failure.event) };
        if reached == Reached::Nothing {
            step.keep(LOGITS, &like, Bytes::of_size(head.logits_bytes), 1);
        }
        if let Some(copy) = head.copy_bytes.filter(|_| reached != Reached::Copy) {
            step.keep(COPY, &like, Bytes::of_size(copy), 1);
        }
        step.keep(LOSS, &like, Bytes::of_size(head.loss_bytes), head.operations);
        if !head.is_held {
            step.release(LOGITS, &like);
        }
    }
}

/// How far what follows the blocks had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// Not to the logits.
    Nothing,
    /// The logits are there.
    Logits,
    /// So is what the loss keeps of them, but for the largest.
    Copy,
}
