//! Requests through the allocator, one after the other.

use super::allocator::Allocator;
use super::driver::Driver;
use super::outcome::{Outcome, Reach, SimulatedOom};
use super::requests::{Op, Request, Requests};
use super::rules::Rules;
use crate::model::{EventIx, Moment, StepCurve};

/// What came of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing was asked.
    Done,
    /// A block at this address.
    Block(u64),
    /// No memory.
    NoMemory,
}

/// A simulation in progress.
#[derive(Clone)]
pub(super) struct Replay<'a> {
    pub(super) allocator: Allocator<'a>,
}

impl<'a> Replay<'a> {
    pub(super) fn new(requests: &'a Requests, rules: Rules) -> Self {
        let driver = Driver::new(rules.capacity_bytes, &requests.segments);
        let mut allocator = Allocator::new(rules, &requests.lanes, requests.slots, driver);
        allocator.place(&requests.start);
        Self { allocator }
    }

    /// Do one thing that the program did.
    #[inline]
    pub(super) fn step(&mut self, request: &Request) -> Answer {
        let allocator = &mut self.allocator;
        match request.op {
            Op::Alloc { slot, lane, requested } => {
                allocator.advance(request.event);
                match allocator.malloc(lane, requested, slot) {
                    Some(block) => Answer::Block(allocator.blocks[block].addr),
                    None => Answer::NoMemory,
                }
            }
            Op::Free { slot } => {
                allocator.free(slot);
                Answer::Done
            }
            Op::FreeRequested { slot } => {
                allocator.free_requested(slot);
                Answer::Done
            }
            Op::FreeCompleted { slot } | Op::MaybeForced { slot } => {
                allocator.free_completed(slot);
                Answer::Done
            }
            Op::FreeForced { slot } => {
                allocator.free_by_waiting(slot);
                Answer::Done
            }
            Op::Flush(scope) => {
                allocator.advance(request.event);
                allocator.release_cached(scope);
                Answer::Done
            }
            Op::MaybeFlush => Answer::Done,
            Op::PoolFreed(pool) => {
                allocator.pool_is_freeable(pool);
                Answer::Done
            }
            Op::Oom { lane, requested } => {
                allocator.advance(request.event);
                match allocator.malloc(lane, requested, u32::MAX) {
                    Some(block) => Answer::Block(allocator.blocks[block].addr),
                    None => Answer::NoMemory,
                }
            }
        }
    }
}

/// Follows what a simulation reserves.
struct Watch {
    reserved: Vec<(Moment, i64)>,
    peak: u64,
    peak_event: Option<EventIx>,
    holes: (u64, u64),
}

impl Watch {
    fn new(replay: &Replay<'_>) -> Self {
        let now = replay.allocator.counters.reserved_bytes.current;
        let holes = replay.allocator.holes();
        Self { reserved: vec![(Moment::START, now as i64)], peak: now, peak_event: None, holes }
    }

    fn look(&mut self, event: u32, replay: &mut Replay<'_>) {
        replay.allocator.log.clear();
        let counted = replay.allocator.counters.reserved_bytes;
        let (moment, now) = (Moment::after(EventIx(event)), counted.current as i64);
        match self.reserved.last_mut() {
            Some(last) if last.0 == moment => last.1 = now,
            _ => self.reserved.push((moment, now)),
        }
        if self.peak < counted.peak {
            self.peak = counted.peak;
            self.peak_event = Some(EventIx(event));
            self.holes = replay.allocator.holes();
        }
    }
}

/// Simulate all requests.
pub(super) fn run(requests: &Requests, rules: Rules) -> Outcome {
    let settings = rules.settings.clone();
    let mut replay = Replay::new(requests, rules);
    let mut watch = Watch::new(&replay);
    let (mut oom, mut reach) = (None, Reach::End);
    for request in &requests.all {
        let answer = replay.step(request);
        if !replay.allocator.log.is_empty() {
            watch.look(request.event, &mut replay);
        }
        let event = EventIx(request.event);
        match (request.op, answer) {
            (Op::Alloc { requested, .. } | Op::Oom { requested, .. }, Answer::NoMemory) => {
                if oom.is_none() {
                    let reserved_bytes = replay.allocator.counters.reserved_bytes.current;
                    oom = Some(SimulatedOom { event, requested_bytes: requested, reserved_bytes });
                    watch.holes = replay.allocator.holes();
                }
                if matches!(request.op, Op::Alloc { .. }) {
                    reach = Reach::Oom(event);
                    break;
                }
            }
            (Op::Oom { .. }, Answer::Block(_)) => {
                reach = Reach::RecordedOom(event);
                break;
            }
            _ => {}
        }
    }
    let (hole_bytes, largest_hole_bytes) = watch.holes;
    Outcome {
        settings,
        counters: replay.allocator.counters,
        oom,
        reach,
        largest_hole_bytes,
        hole_bytes,
        peak_event: watch.peak_event,
        reserved: StepCurve::from_steps(watch.reserved),
    }
}
