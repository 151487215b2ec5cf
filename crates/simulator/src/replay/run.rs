//! A whole simulation, from the first request to the one at which the recording and the simulation part.

use super::outcome::{Outcome, Reach, SimulatedOom};
use super::{Replay, StepResult};
use crate::requests::{Op, Request, Requests};
use crate::settings::Rules;
use oomscope_model::{Bytes, EventIx, Moment, StepCurve};

/// Records the reserved bytes of a simulation over time.
struct ReservedRecorder {
    steps: Vec<(Moment, Bytes)>,
    peak: u64,
    peak_event: Option<EventIx>,
    /// Cached bytes at the peak, and those of the largest cached block.
    holes: (u64, u64),
}

impl ReservedRecorder {
    fn new(replay: &Replay<'_>) -> Self {
        let now = replay.allocator.counters.reserved_bytes.current;
        let holes = replay.allocator.holes();
        Self { steps: vec![(Moment::START, Bytes::of_size(now))], peak: now, peak_event: None, holes }
    }

    /// Note the present state, after an event that changed segments.
    fn record(&mut self, event: u32, replay: &mut Replay<'_>) {
        replay.allocator.log.clear();
        let counted = replay.allocator.counters.reserved_bytes;
        let (moment, now) = (Moment::after(EventIx(event)), Bytes::of_size(counted.current));
        match self.steps.last_mut() {
            Some(last) if last.0 == moment => last.1 = now,
            _ => self.steps.push((moment, now)),
        }
        if self.peak < counted.peak {
            self.peak = counted.peak;
            self.peak_event = Some(EventIx(event));
            self.holes = replay.allocator.holes();
        }
    }
}

/// Simulate all requests, until what the program would have done next is unknown.
pub(crate) fn run(requests: &Requests, rules: Rules) -> Outcome {
    run_requests(requests, requests.all.iter().copied(), rules)
}

/// Simulate some requests from the state that others start from.
pub(crate) fn run_requests(requests: &Requests, all: impl Iterator<Item = Request>, rules: Rules) -> Outcome {
    let (settings, limit_bytes) = (rules.settings.clone(), rules.limit_bytes());
    let mut replay = Replay::new(requests, rules);
    let mut recorder = ReservedRecorder::new(&replay);
    let (mut oom, mut reach) = (None, Reach::End);
    for request in all {
        let result = replay.step(&request);
        if !replay.allocator.log.is_empty() {
            recorder.record(request.event, &mut replay);
        }
        let event = EventIx(request.event);
        match (request.op, result) {
            (Op::Alloc { requested, .. } | Op::Oom { requested, .. }, StepResult::NoMemory) => {
                if oom.is_none() {
                    let reserved_bytes = replay.allocator.counters.reserved_bytes.current;
                    oom = Some(SimulatedOom { event, requested_bytes: requested, reserved_bytes });
                    recorder.holes = replay.allocator.holes();
                }
                if matches!(request.op, Op::Alloc { .. }) {
                    reach = Reach::Oom(event);
                    break;
                }
            }
            (Op::Oom { .. }, StepResult::Block(_)) => {
                reach = Reach::RecordedOom(event);
                break;
            }
            _ => {}
        }
    }
    let (hole_bytes, largest_hole_bytes) = recorder.holes;
    Outcome {
        settings,
        counters: replay.allocator.counters,
        oom,
        reach,
        largest_hole_bytes,
        hole_bytes,
        peak_event: recorder.peak_event,
        reserved: StepCurve::from_steps(recorder.steps),
        limit_bytes,
        until: requests.until,
    }
}
