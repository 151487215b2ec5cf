//! How far a simulation under the recorded settings reproduces the recording.

use super::replay::{Answer, Replay};
use super::requests::{Op, Requests};
use super::rules::Rules;
use super::segment_events::SegmentEvent;
use crate::model::{EventIx, Timeline};

/// What a recording and its simulation have in common.
///
/// Compared are the events that the allocator decides: where a block is put, which segments are asked
/// for, mapped, unmapped and given back, and which requests fail. Frees are the program's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fidelity {
    /// Events that were compared. Simulated ones that the recording does not have count, too.
    pub events: u64,
    /// Those that are the same in kind, size, address and order.
    pub identical: u64,
    /// The first event that differs.
    pub first_difference: Option<EventIx>,
}

impl Fidelity {
    /// Whether nothing differs.
    pub fn is_complete(&self) -> bool {
        self.events == self.identical
    }

    /// The identical part, from 0 to 1; 1 where there was nothing to compare.
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

/// How much memory a simulation has, by what the recording did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// More is given back to the driver than was recorded, or a request fails.
    TooLittle,
    /// Less is given back to the driver than was recorded, or a request is met.
    TooMuch,
    /// Nothing says so.
    Fits,
}

/// Simulate until the recording shows that there is too little memory, or too much, and at which event.
pub(super) fn judge(requests: &Requests, rules: &Rules) -> (Verdict, u32) {
    let mut replay = Replay::new(requests, rules.clone());
    let mut seen = 0;
    for request in &requests.all {
        let answer = replay.step(request);
        let (Op::Alloc { .. } | Op::Oom { .. }) = request.op else { continue };
        let from = seen;
        while requests.segments.get(seen).is_some_and(|event| event.event < request.event) {
            seen += 1;
        }
        let count = |events: &[SegmentEvent]| events.iter().filter(|event| event.action.gives_back()).count();
        let (real, own) = (count(&requests.segments[from..seen]), count(&replay.allocator.log));
        let is_oom = matches!(request.op, Op::Oom { .. });
        if real < own || (answer == Answer::NoMemory && !is_oom) {
            return (Verdict::TooLittle, request.event);
        }
        if own < real || (answer != Answer::NoMemory && is_oom) {
            return (Verdict::TooMuch, request.event);
        }
        replay.allocator.log.clear();
    }
    (Verdict::Fits, u32::MAX)
}

/// The first event that differs; `None` if nothing does.
pub(super) fn first_difference(timeline: &Timeline, requests: &Requests, rules: &Rules) -> Option<EventIx> {
    compare_until(timeline, requests, rules, |so_far| so_far.first_difference.is_some()).first_difference
}

/// Simulate under rules, and compare.
pub(super) fn compare(timeline: &Timeline, requests: &Requests, rules: &Rules) -> Fidelity {
    compare_until(timeline, requests, rules, |_| false)
}

/// Compare until something holds of what was compared.
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
        let answer = replay.step(request);
        let wanted = match request.op {
            Op::Alloc { .. } => {
                timeline.events.addr(EventIx(request.event)).map_or(Answer::NoMemory, Answer::Block)
            }
            Op::Oom { .. } => Answer::NoMemory,
            _ => continue,
        };
        let from = seen;
        while requests.segments.get(seen).is_some_and(|event| event.event < request.event) {
            seen += 1;
        }
        out.segments(&requests.segments[from..seen], &replay.allocator.log, request.event);
        replay.allocator.log.clear();
        out.count(answer == wanted, request.event);
        if is_enough(&out) {
            return out;
        }
    }
    out.segments(&requests.segments[seen..], &replay.allocator.log, requests.events.saturating_sub(1) as u32);
    out
}
