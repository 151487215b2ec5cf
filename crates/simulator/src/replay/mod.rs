//! Replays the requests of a recording on the allocator, one after the other.

mod fidelity;
mod outcome;
mod run;
mod statistics;

pub use fidelity::Fidelity;
pub(super) use fidelity::{MemoryFit, compare, first_difference, given_back, judge_memory};
pub use outcome::{Outcome, Reach, SimulatedOom, margin_bytes};
pub(super) use run::{run, run_requests};
pub use statistics::Statistics;
pub(super) use statistics::statistics_at;

use super::allocator::{Allocator, LaidSegment};
use super::requests::{Op, Request, Requests};
use super::settings::Rules;
use oomscope_model::Moment;

/// The result of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepResult {
    /// It was no request for a block.
    Done,
    /// It got a block at this address.
    Block(u64),
    /// There was no memory for it.
    NoMemory,
}

/// A simulation in progress.
#[derive(Clone)]
pub(super) struct Replay<'a> {
    pub(super) allocator: Allocator<'a>,
}

impl<'a> Replay<'a> {
    pub(super) fn new(requests: &'a Requests, rules: Rules) -> Self {
        let mut allocator = Allocator::new(rules, &requests.pool_streams, requests.slots, &requests.segments);
        allocator.lay_out_initial_state(&requests.initial);
        Self { allocator }
    }

    /// The same with counters for small and large blocks of their own.
    pub(super) fn counting_by_size(requests: &'a Requests, rules: Rules) -> Self {
        let mut allocator = Allocator::new(rules, &requests.pool_streams, requests.slots, &requests.segments);
        allocator.count_by_size();
        allocator.lay_out_initial_state(&requests.initial);
        Self { allocator }
    }

    /// Replay one request.
    #[inline]
    pub(super) fn step(&mut self, request: &Request) -> StepResult {
        let allocator = &mut self.allocator;
        match request.op {
            Op::Alloc { slot, pool_stream, requested } => {
                self.malloc(request.event, pool_stream, requested, slot)
            }
            Op::Free { slot } => {
                allocator.free(slot);
                StepResult::Done
            }
            Op::FreeRequested { slot } => {
                allocator.free_requested(slot);
                StepResult::Done
            }
            Op::FreeCompleted { slot } | Op::MaybeForced { slot } => {
                allocator.free_completed(slot);
                StepResult::Done
            }
            Op::FreeForced { slot } => {
                allocator.free_by_waiting(slot);
                StepResult::Done
            }
            Op::Flush(scope) => {
                allocator.advance(request.event);
                allocator.release_cached(scope);
                StepResult::Done
            }
            Op::MaybeFlush => StepResult::Done,
            Op::PoolFreed(pool) => {
                allocator.pool_is_freeable(pool);
                StepResult::Done
            }
            // The program has no slot for a block that it did not get.
            Op::Oom { pool_stream, requested } => {
                self.malloc(request.event, pool_stream, requested, u32::MAX)
            }
        }
    }

    #[inline]
    fn malloc(&mut self, event: u32, pool_stream: u32, requested: u64, slot: u32) -> StepResult {
        self.allocator.advance(event);
        let block = self.allocator.malloc(pool_stream, requested, slot);
        block.map_or(StepResult::NoMemory, |block| StepResult::Block(self.allocator.addr(block)))
    }
}

/// The segment map after the requests up to a moment, by address. Requests that cannot be met are left out.
pub(super) fn layout_at(requests: &Requests, rules: Rules, moment: Moment) -> Vec<LaidSegment> {
    let mut replay = Replay::new(requests, rules);
    for request in requests.all.iter().take_while(|request| request.event < moment.0) {
        replay.step(request);
        replay.allocator.log.clear();
    }
    replay.allocator.layout()
}
