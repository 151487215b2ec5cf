//! Requests whose cause a recording leaves open, decided by trying both causes on the allocator.

use crate::replay::{Replay, StepResult, given_back};
use crate::requests::{Op, Request, Requests, Scope};
use crate::settings::Rules;

/// The most trials. Each copies the whole state of the simulation, so they are limited; few requests of a recording with
/// stacks need any.
const MAX_TRIALS: usize = 400;

/// Decide for each [`Op::MaybeFlush`] whether the request after it explains it, and for each
/// [`Op::MaybeForced`] whether the request after it had to wait for it, under the recorded settings.
pub(crate) fn decide_open_requests(requests: &mut Requests, rules: &Rules) {
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

/// Tries out requests on copies of a simulation.
struct Trials<'a> {
    requests: &'a Requests,
    /// How many more may be made.
    left: usize,
}

impl Trials<'_> {
    /// The operations that the consecutive open requests from `at` on stand for.
    fn decide(&mut self, replay: &Replay<'_>, at: usize) -> Vec<Op> {
        let run = self.requests.all[at..].iter().take_while(|request| is_open(request));
        let open: Vec<Op> = run.map(|request| request.op).collect();
        if open.contains(&Op::MaybeFlush) {
            let is_own = !self.is_as_recorded(replay, at, &open[..1]);
            return vec![if is_own { Op::Flush(Scope::Everything) } else { Op::MaybeFlush }];
        }
        // The request can only have waited for the completions right before it: try none, then the last one, and so on.
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

    /// Whether the next request for a block has the recorded result and gives back as many segments as recorded, if the
    /// requests from `at` on are replaced by `ops`.
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
            let result = trial.step(request);
            let is_oom = matches!(request.op, Op::Oom { .. });
            if is_oom || matches!(request.op, Op::Alloc { .. }) {
                let until = segments.partition_point(|event| event.event < request.event);
                let from = segments[..until].partition_point(|event| event.event <= self.last_before(at));
                return (result == StepResult::NoMemory) == is_oom
                    && given_back(&segments[from..until]) == given_back(&trial.allocator.log);
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
