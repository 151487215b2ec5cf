//! A first step whose request failed in the forward of a model in stages.

use super::First;
use super::rounds::{MAX_ALLOCATIONS, Rounds};
use super::stages::{ModelStage, is_about, per_round};
use super::step_writer::{Kept, StepWriter};
use crate::projection::course::{Stage, Unprojected};
use oomscope_model::{AllocId, Bytes, Event, StackId};
use std::collections::BTreeMap;
use std::ops::Range;

impl First<'_> {
    /// Write the rest of the blocks, up to the last of the last stage.
    ///
    /// # Errors
    /// Too little ran, or blocks that ran kept something else than stages tell.
    pub(super) fn write_stages(
        &self,
        rounds: &Rounds<'_>,
        stages: &[ModelStage],
        step: &mut StepWriter,
    ) -> Result<Stage, Unprojected> {
        let run = &self.computation.run;
        // Of the last one that was recorded, a part of the next may be taken for one.
        let last = rounds.recorded().checked_sub(1).ok_or(Unprojected::NoEarlierBlock)?;
        let like = last.checked_sub(1).ok_or(Unprojected::NoEarlierBlock)?;
        let products = self.products_in(rounds.ids(like));
        let stages = per_round(stages, products).ok_or(Unprojected::OtherBlocks)?;
        let stage_of =
            |block: usize| stages.iter().find(|stage| stage.has(block)).ok_or(Unprojected::OtherBlocks);
        let count = stages.last().map_or(0, |stage| stage.before + stage.count);
        let repetition = rounds.repetition();
        let under_way = repetition.map_or(last, |repetition| rounds.begun(repetition) - 1);
        let (now, like_stage) = (stage_of(under_way)?, stage_of(like)?);
        let kept = kept_in(&step.kept, rounds.ids(like));
        if MAX_ALLOCATIONS as usize / count.max(1) < kept.len() {
            return Err(Unprojected::OtherBlocks);
        }
        for block in 0..like {
            let of_block = kept_in(&step.kept, rounds.ids(block));
            let told = sum(&kept) * stage_of(block)?.kept_of(like_stage);
            if !is_about(sum(&of_block), told) {
                return Err(Unprojected::OtherBlocks);
            }
        }
        let failed = run.recording.events.get(self.failure.event);
        let is_first_of_stage = under_way.checked_sub(1).is_none_or(|before| !now.has(before));
        let written = if let Some(repetition) = repetition.filter(|_| !is_first_of_stage) {
            let end = now.before + now.count;
            rounds.write(repetition, end, step)?;
            end
        } else {
            let all = kept_in(&step.kept, rounds.ids(last)).len();
            let begun = if under_way == last { all } else { all.saturating_sub(kept.len()) };
            keep(step, &failed, self.failure.bytes);
            self.keep_like(kept.get(begun + 1..).unwrap_or_default(), now.kept_of(like_stage), step);
            under_way + 1
        };
        for block in written..count {
            self.keep_like(&kept, stage_of(block)?.kept_of(like_stage), step);
        }
        let block = under_way + 1;
        Ok(Stage::Block { block, count: count.max(block), gets_wider: true })
    }

    /// Write that code which was not recorded keeps as much as other code, by a factor.
    fn keep_like(&self, kept: &[Bytes], factor: f64, step: &mut StepWriter) {
        let failed = self.computation.run.recording.events.get(self.failure.event);
        let like = Event { stack: self.stacks.forward, ..failed };
        for &bytes in kept {
            // The conversion saturates.
            keep(step, &like, Bytes((bytes.as_f64() * factor) as i64));
        }
    }

    /// How many products of modules some allocations are of.
    fn products_in(&self, ids: Range<u32>) -> usize {
        let Self { computation, .. } = *self;
        let run = &computation.run;
        let is_made =
            |id: &AllocId| computation.depends_on_batch(*id) && !run.recording.lifetimes.is_fleeting(*id);
        let stack = |id: AllocId| computation.is_product(id).then(|| run.recording.stack(id));
        let stacks: Vec<Option<StackId>> = ids.map(AllocId).filter(is_made).map(stack).collect();
        // Autocast copies what goes into a product first.
        let is_copy = |pair: &&[Option<StackId>]| computation.has_weight_copies() && pair[0] == pair[1];
        let copies = stacks.windows(2).filter(|pair| pair[0].is_some()).filter(is_copy).count();
        stacks.iter().flatten().count() - copies
    }
}

fn keep(step: &mut StepWriter, like: &Event, bytes: Bytes) {
    let next = step.kept.keys().next_back().map_or(0, |last| last + 1);
    step.keep(AllocId(next), like, bytes, 1);
}

/// The bytes of what is kept of some allocations.
fn kept_in(kept: &BTreeMap<u32, Kept>, ids: Range<u32>) -> Vec<Bytes> {
    kept.range(ids).map(|(_, kept)| kept.block.bytes).collect()
}

fn sum(bytes: &[Bytes]) -> f64 {
    bytes.iter().sum::<Bytes>().as_f64()
}
