//! After which backward an optimizer stepped.

use super::acts::{Act, Acts};
use super::place::Places;
use crate::model::{AllocId, Moment, Timeline};

/// A stretch of backward work without a model's call or an optimizer's step within.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    start: u32,
    end: u32,
    /// A step, or dropped gradients, were seen before the next stretch.
    has_step: bool,
    /// Parameters are perturbed for another backward: that was no step.
    perturbs: bool,
    /// The next call is made by a closure within the same step.
    goes_on: bool,
    /// Bytes of gradients that it left.
    left: i64,
    /// Bytes of these that were gone before the next stretch.
    dropped: i64,
}

/// The events at which a step is over, in order.
pub(super) fn steps(timeline: &Timeline, places: &Places, acts: &Acts) -> Vec<u32> {
    let mut stretches = stretches(places, acts);
    weigh(&mut stretches, timeline, acts);
    let stepped = |s: &Stretch| s.has_step || (0 < s.left && s.left / 2 < s.dropped);
    let is_seen = stretches.iter().any(stepped);
    // Steps that allocate not only at first are all seen; then dropped gradients mean nothing.
    let late = stretches.iter().skip(stretches.len() / 2).any(|s| s.has_step) && 2 < stretches.len();
    let is_step = |s: &&Stretch| if late { s.has_step } else { stepped(s) || !is_seen };
    stretches.iter().filter(is_step).filter(|s| !s.goes_on && !s.perturbs).map(|s| s.end).collect()
}

fn stretches(places: &Places, acts: &Acts) -> Vec<Stretch> {
    let mut out: Vec<Stretch> = Vec::new();
    let (mut is_open, mut is_outside) = (false, true);
    for run in &acts.runs {
        is_outside |= !run.within_step && run.act != Act::Backward;
        if let Some(last) = out.last_mut().filter(|_| places.get(run.stack).perturbs) {
            last.perturbs = true;
        }
        match run.act {
            Act::Backward => {
                if let Some(last) = out.last_mut().filter(|_| is_open) {
                    last.end = run.end;
                } else {
                    (is_open, is_outside) = (true, false);
                    out.push(Stretch { start: run.start, end: run.end, ..Stretch::default() });
                }
            }
            Act::Step | Act::Gradients => {
                is_open = false;
                if let Some(last) = out.last_mut() {
                    last.has_step |= run.act == Act::Step;
                }
            }
            Act::Call => {
                if is_open || !is_outside {
                    if let Some(last) = out.last_mut() {
                        last.goes_on = run.within_step && !is_outside;
                    }
                    is_outside = true;
                }
                is_open = false;
            }
            _ => {}
        }
    }
    out
}

fn weigh(stretches: &mut [Stretch], timeline: &Timeline, acts: &Acts) {
    let lifetimes = &timeline.lifetimes;
    let mut at = 0;
    for id in (lifetimes.initial_count() as u32..lifetimes.len() as u32).map(AllocId) {
        let Some(event) = lifetimes.start(id).event() else { continue };
        while stretches.get(at).is_some_and(|s| s.end <= event.0) {
            at += 1;
        }
        let next = stretches.get(at + 1).map(|next| next.start);
        let Some(stretch) = stretches.get_mut(at) else { break };
        if event.0 < stretch.start || acts.at(event.0) != Act::Backward {
            continue;
        }
        let gone = lifetimes.requested(id).or(lifetimes.end(id)).and_then(Moment::event);
        if gone.is_some_and(|gone| gone.0 < stretch.end) {
            continue;
        }
        let size = lifetimes.size(id, &timeline.events).max(0);
        stretch.left = stretch.left.saturating_add(size);
        if gone.is_some_and(|gone| next.is_none_or(|next| gone.0 < next)) {
            stretch.dropped = stretch.dropped.saturating_add(size);
        }
    }
}
