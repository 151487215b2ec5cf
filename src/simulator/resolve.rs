//! What a recording leaves open, decided by what the allocator would have done.

use super::allocator::Scope;
use super::replay::{Answer, Replay};
use super::requests::{Op, Request, Requests};
use super::rules::Rules;
use super::segment_events::SegmentEvent;

/// How often a state is copied to try what a request alone would do. Few requests of a recording with
/// stacks need that.
const MAX_TRIALS: usize = 400;

/// Decide for each [`Op::MaybeFlush`] whether the request after it explains it, and for each
/// [`Op::MaybeForced`] whether the request after it had to wait for it, under the recorded settings.
pub(super) fn resolve(requests: &mut Requests, rules: &Rules) {
    if !requests.all.iter().any(is_open) {
        return;
    }
    let mut decided = Vec::new();
    let mut replay = Replay::new(requests, rules.clone());
    let mut trials = Trials { requests, left: MAX_TRIALS };
    let mut at = 0;
    while let Some(request) = requests.all.get(at) {
        replay.allocator.log.clear();
        let count = if is_open(request) {
            let ops = trials.decide(&replay, at);
            for (i, &op) in ops.iter().enumerate() {
                replay.step(&Request { op, ..requests.all[at + i] });
                decided.push((at + i, op));
            }
            ops.len()
        } else {
            replay.step(request);
            1
        };
        at += count.max(1);
    }
    for (i, op) in decided {
        requests.all[i].op = op;
    }
    requests.all.retain(|request| request.op != Op::MaybeFlush);
}

fn is_open(request: &Request) -> bool {
    matches!(request.op, Op::MaybeFlush | Op::MaybeForced { .. })
}

/// Tries what requests do alone.
struct Trials<'a> {
    requests: &'a Requests,
    left: usize,
}

impl Trials<'_> {
    /// What the open requests from `at` on did.
    fn decide(&mut self, replay: &Replay<'_>, at: usize) -> Vec<Op> {
        let run = self.requests.all[at..].iter().take_while(|request| is_open(request));
        let open: Vec<Op> = run.map(|request| request.op).collect();
        if open.contains(&Op::MaybeFlush) {
            let is_own = !self.is_as_recorded(replay, at, &open[..1]);
            return vec![if is_own { Op::Flush(Scope::Everything) } else { Op::MaybeFlush }];
        }
        let with_forced = |from: usize| {
            let op = |(i, op): (usize, &Op)| match *op {
                Op::MaybeForced { slot } if from <= i => Op::FreeForced { slot },
                Op::MaybeForced { slot } => Op::FreeCompleted { slot },
                op => op,
            };
            open.iter().enumerate().map(op).collect::<Vec<_>>()
        };
        let tried = (0..=open.len()).rev().map(with_forced);
        let mut fitting = tried.into_iter().filter(|ops| self.is_as_recorded(replay, at, ops));
        fitting.next().unwrap_or_else(|| with_forced(open.len()))
    }

    /// Whether, with these in the place of the requests from `at` on, the next one that asks for a
    /// block has the recorded answer and gives as much back as was recorded.
    fn is_as_recorded(&mut self, replay: &Replay<'_>, at: usize, ops: &[Op]) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        let all = &self.requests.all;
        let mut trial = replay.clone();
        for (request, &op) in all[at..].iter().zip(ops) {
            trial.step(&Request { op, ..*request });
        }
        let segments = &self.requests.segments;
        for request in &all[at + ops.len()..] {
            let answer = trial.step(request);
            let is_oom = matches!(request.op, Op::Oom { .. });
            if is_oom || matches!(request.op, Op::Alloc { .. }) {
                let until = segments.partition_point(|event| event.event < request.event);
                let from = segments[..until].partition_point(|event| event.event <= self.last_before(at));
                let count =
                    |events: &[SegmentEvent]| events.iter().filter(|event| event.action.gives_back()).count();
                return (answer == Answer::NoMemory) == is_oom
                    && count(&segments[from..until]) == count(&trial.allocator.log);
            }
        }
        false
    }

    /// The event of the last request for a block before a place; segment events up to it are its own.
    fn last_before(&self, at: usize) -> u32 {
        let before = self.requests.all[..at].iter().rev();
        let last = before
            .into_iter()
            .find(|request| matches!(request.op, Op::Alloc { .. } | Op::Oom { .. } | Op::Flush(_)));
        last.map_or(0, |request| request.event)
    }
}
