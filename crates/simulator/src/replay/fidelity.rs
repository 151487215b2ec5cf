//! How far a simulation under the recorded settings reproduces the recording.

use super::{Replay, StepResult};
use crate::requests::{Op, Requests, SegmentEvent};
use crate::settings::Rules;
use oomscope_model::{EventIx, Timeline};

/// How much a recording and its simulation have in common.
///
/// The events that the allocator decides are compared: the address of each block, the segments that are asked for,
/// mapped, unmapped and given back, and the requests that fail. Frees are the program's decision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fidelity {
    /// Number of events that were compared, including simulated ones that the recording does not have.
    pub events: u64,
    /// Number of those that are the same in kind, size, address and order.
    pub identical: u64,
    /// The first event that differs.
    pub first_difference: Option<EventIx>,
}

impl Fidelity {
    /// Whether nothing differs.
    pub fn is_complete(&self) -> bool {
        self.events == self.identical
    }

    /// The identical share, from 0 to 1; 1 if there was nothing to compare.
    pub fn share(&self) -> f64 {
        if self.events == 0 { 1.0 } else { self.identical as f64 / self.events as f64 }
    }

    fn count(&mut self, is_same: bool, event: u32) {
        self.events += 1;
        self.identical += u64::from(is_same);
        if !is_same && self.first_difference.is_none() {
            self.first_difference = Some(EventIx(event));
        }
    }

    /// Compare segment events in their order.
    fn segments(&mut self, recorded: &[SegmentEvent], simulated: &[SegmentEvent], event: u32) {
        for i in 0..recorded.len().max(simulated.len()) {
            let (real, own) = (recorded.get(i), simulated.get(i));
            let is_same = real.zip(own).is_some_and(|(real, own)| {
                (real.action, real.addr, real.size) == (own.action, own.addr, own.size)
            });
            self.count(is_same, real.map_or(event, |real| real.event));
        }
    }
}

/// Whether a simulation has as much memory as the recorded device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryFit {
    /// It gives more back to the driver than was recorded, or a request fails that was met.
    TooLittle,
    /// It gives less back to the driver than was recorded, or a request is met that failed.
    TooMuch,
    /// Nothing contradicts it.
    Fits,
}

/// Simulate until the recording shows that there is too little memory, or too much. Returns the event that shows it, or
/// the highest number there is.
pub(crate) fn judge_memory(requests: &Requests, rules: &Rules) -> (MemoryFit, u32) {
    let mut replay = Replay::new(requests, rules.clone());
    let mut seen = 0;
    for request in &requests.all {
        let result = replay.step(request);
        let (Op::Alloc { .. } | Op::Oom { .. }) = request.op else { continue };
        let recorded = requests.segments_until(seen, request.event);
        seen += recorded.len();
        let (real, own) = (given_back(recorded), given_back(&replay.allocator.log));
        let is_oom = matches!(request.op, Op::Oom { .. });
        if real < own || (result == StepResult::NoMemory && !is_oom) {
            return (MemoryFit::TooLittle, request.event);
        }
        if own < real || (result != StepResult::NoMemory && is_oom) {
            return (MemoryFit::TooMuch, request.event);
        }
        replay.allocator.log.clear();
    }
    (MemoryFit::Fits, u32::MAX)
}

/// The number of events that give memory back to the driver.
pub(crate) fn given_back(events: &[SegmentEvent]) -> usize {
    events.iter().filter(|event| event.action.gives_back()).count()
}

/// The first event that differs; `None` if nothing does.
pub(crate) fn first_difference(timeline: &Timeline, requests: &Requests, rules: &Rules) -> Option<EventIx> {
    compare_until(timeline, requests, rules, |so_far| so_far.first_difference.is_some()).first_difference
}

/// Simulate all requests under rules, and compare.
pub(crate) fn compare(timeline: &Timeline, requests: &Requests, rules: &Rules) -> Fidelity {
    compare_until(timeline, requests, rules, |_| false)
}

/// Compare until what was compared so far is enough.
fn compare_until(
    timeline: &Timeline,
    requests: &Requests,
    rules: &Rules,
    is_enough: impl Fn(&Fidelity) -> bool,
) -> Fidelity {
    let mut replay = Replay::new(requests, rules.clone());
    let mut out = Fidelity::default();
    let mut seen = 0;
    for request in &requests.all {
        let result = replay.step(request);
        let wanted = match request.op {
            Op::Alloc { .. } => {
                timeline.events.addr(EventIx(request.event)).map_or(StepResult::NoMemory, StepResult::Block)
            }
            Op::Oom { .. } => StepResult::NoMemory,
            _ => continue,
        };
        let recorded = requests.segments_until(seen, request.event);
        seen += recorded.len();
        out.segments(recorded, &replay.allocator.log, request.event);
        replay.allocator.log.clear();
        out.count(result == wanted, request.event);
        if is_enough(&out) {
            return out;
        }
    }
    out.segments(&requests.segments[seen..], &replay.allocator.log, requests.events.saturating_sub(1) as u32);
    out
}
