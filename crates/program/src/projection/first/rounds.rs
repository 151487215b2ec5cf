//! The repeated blocks of the forward in which a request failed.

use super::step_writer::StepWriter;
use crate::projection::course::Unprojected;
use crate::projection::failure::Failure;
use crate::projection::likeness::{Likeness, Mark};
use crate::{Computation, weighted_median};
use oomscope_model::{Action, AllocId, Bytes, EventIx};
use std::collections::BTreeMap;
use std::ops::Range;

/// An earlier round that is like the last is looked for among this many.
const MAX_ROUNDS_BACK: usize = 64;

/// No more allocations are written than these, so that no file makes very many out of few.
pub(super) const MAX_ALLOCATIONS: u32 = 250_000;

/// Rounds of blocks, up to the request that failed.
pub(super) struct Rounds<'a> {
    computation: &'a Computation<'a>,
    failure: &'a Failure,
    /// The first allocation of each that was recorded.
    starts: Vec<u32>,
    /// The allocation after the last of the last one.
    end: u32,
    /// The allocation that the failed request would have made.
    failed: u32,
}

/// How the failed request repeats one of an earlier round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repetition {
    /// How many allocations lie between one and its counterpart.
    period: u32,
    /// How many rounds that is.
    rounds: usize,
    /// How much larger than its counterpart one is.
    ratio: f64,
}

impl<'a> Rounds<'a> {
    /// The rounds of a forward that trains, if it has begun some.
    pub(super) fn of(
        computation: &'a Computation<'a>,
        failure: &'a Failure,
        forward: &Range<u32>,
    ) -> Option<Self> {
        let events = forward.start..failure.event.0;
        Self::of_blocks(computation, failure, &events, computation.blocks(&events))
    }

    /// Those of a call that does not train.
    pub(super) fn of_call(
        computation: &'a Computation<'a>,
        failure: &'a Failure,
        events: &Range<u32>,
    ) -> Option<Self> {
        Self::of_blocks(computation, failure, events, computation.blocks_of_call(events))
    }

    fn of_blocks(
        computation: &'a Computation<'a>,
        failure: &'a Failure,
        events: &Range<u32>,
        blocks: Vec<Range<u32>>,
    ) -> Option<Self> {
        let failed = computation.run.made_in(events).last()?.0 + 1;
        let end = blocks.last()?.end;
        let starts = blocks.into_iter().map(|block| block.start).collect();
        Some(Self { computation, failure, starts, end, failed })
    }

    /// The first allocation of the last one.
    pub(super) fn last(&self) -> AllocId {
        AllocId(self.starts.last().copied().unwrap_or(self.failed))
    }

    /// How many were recorded, with the one that may have been under way.
    pub(super) fn recorded(&self) -> usize {
        self.starts.len()
    }

    /// What was made after the last round.
    pub(super) fn made_after(&self) -> impl Iterator<Item = AllocId> + use<> {
        (self.end..self.failed).map(AllocId)
    }

    /// The numbers of what a recorded one made, counted from 0.
    pub(super) fn ids(&self, round: usize) -> Range<u32> {
        let start = self.starts.get(round).copied().unwrap_or(self.failed);
        start..self.starts.get(round + 1).copied().unwrap_or(self.failed)
    }

    /// How many of some allocations, by their numbers, rounds made.
    pub(super) fn kept_by<T>(&self, kept: &BTreeMap<u32, T>) -> usize {
        self.starts.first().map_or(0, |&first| kept.range(first..).count())
    }

    /// The earlier round that the failed request repeats one of, the latest of several.
    pub(super) fn repetition(&self) -> Option<Repetition> {
        let (&last, earlier) = self.starts.split_last()?;
        let nearest = || earlier.iter().enumerate().rev().take(MAX_ROUNDS_BACK);
        [Likeness::StackAndSize, Likeness::Stack].into_iter().find_map(|likeness| {
            let is_like = |period: u32| {
                let is_same = |id: u32| self.mark(likeness, id) == self.mark(likeness, id - period);
                (last..=self.failed).all(is_same)
            };
            let (index, &start) = nearest().find(|&(_, &start)| is_like(last - start))?;
            let period = last - start;
            let ratio = if likeness == Likeness::Stack { self.ratio(last, period) } else { 1.0 };
            Some(Repetition { period, rounds: earlier.len() - index, ratio })
        })
    }

    fn mark(&self, likeness: Likeness, id: u32) -> Mark {
        let run = &self.computation.run;
        if id == self.failed {
            likeness.mark_of_failed(run, self.failure.event)
        } else {
            likeness.mark(run, AllocId(id))
        }
    }

    /// How much larger what depends on the batch is than its counterpart.
    fn ratio(&self, from: u32, period: u32) -> f64 {
        let asked = self.failure.bytes.unsigned_abs();
        let bytes = |id: u32| if id == self.failed { asked } else { self.computation.run.bytes(AllocId(id)) };
        let of_batch =
            (from..=self.failed).filter(|&id| self.computation.depends_on_batch(AllocId(id - period)));
        let pairs = of_batch.map(|id| (bytes(id), bytes(id - period))).filter(|pair| pair.1 != 0);
        weighted_median(pairs.map(|(ours, theirs)| (ours as f64 / theirs as f64, theirs)).collect())
    }

    /// How many rounds have begun, that of the failed request included.
    pub(super) fn begun(&self, repetition: Repetition) -> usize {
        let counterpart = self.failed - repetition.period;
        self.starts.partition_point(|&start| start <= counterpart) + repetition.rounds
    }

    /// The first allocation of a round, recorded or not.
    fn start(&self, repetition: Repetition, round: usize) -> u32 {
        let more = (round + 1).saturating_sub(self.starts.len()).div_ceil(repetition.rounds);
        let recorded = self.starts.get(round - more * repetition.rounds).copied().unwrap_or(self.failed);
        recorded.saturating_add(repetition.period.saturating_mul(more as u32))
    }

    /// Write the rest of the round that failed, and those up to a number of rounds.
    ///
    /// # Errors
    /// There would be too many of them.
    pub(super) fn write(
        &self,
        repetition: Repetition,
        count: usize,
        step: &mut StepWriter,
    ) -> Result<(), Unprojected> {
        let run = &self.computation.run;
        let lifetimes = &run.recording.lifetimes;
        let end = self.start(repetition, count.max(self.begun(repetition)));
        if MAX_ALLOCATIONS < end.saturating_sub(self.failed) {
            return Err(Unprojected::OtherBlocks);
        }
        let counterpart = AllocId(self.failed - repetition.period);
        let Some(from) = lifetimes.start(counterpart).event() else { return Ok(()) };
        for turn in 1.. {
            let shift = repetition.period.saturating_mul(turn);
            for event in (from.0..self.failure.event.0).map(EventIx) {
                match run.recording.events.action(event) {
                    Action::Alloc => {
                        let Some(AllocId(id)) = lifetimes.of_alloc_event(event) else { continue };
                        if end <= id.saturating_add(shift) {
                            return Ok(());
                        }
                        let bytes = self.bytes(repetition, id, id + shift);
                        step.keep(AllocId(id + shift), &run.recording.events.get(event), bytes, 1);
                    }
                    Action::FreeCompleted => {
                        let freed = self.computation.frees.at(event.0).map(|AllocId(id)| id);
                        let like = freed.map(|id| (id, AllocId(id.saturating_add(shift))));
                        // What the first round took over, others take over from the one before them.
                        let is_like = |&(id, like): &(u32, AllocId)| {
                            self.starts[0] <= id || step.has(like, run.recording.size(AllocId(id)))
                        };
                        if let Some((_, like)) = like.filter(is_like) {
                            step.release(like, &run.recording.events.get(event));
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The bytes of an allocation that follows another.
    fn bytes(&self, repetition: Repetition, like: u32, id: u32) -> Bytes {
        if id == self.failed {
            return self.failure.bytes;
        }
        let bytes = self.computation.run.recording.size(AllocId(like));
        if self.computation.depends_on_batch(AllocId(like)) && repetition.ratio != 1.0 {
            // The conversion saturates.
            Bytes((bytes.as_f64() * repetition.ratio).ceil() as i64)
        } else {
            bytes
        }
    }
}
