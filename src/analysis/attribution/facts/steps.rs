//! After which backward an optimizer stepped.

use super::acts::{Act, Acts, Run};
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
    /// Whether the next call is made by a closure within the same step; `None` without one.
    goes_on: Option<bool>,
    /// Bytes of gradients that were there when it was over, of earlier ones too.
    left: i64,
    /// Bytes of these that were gone before the next stretch.
    dropped: i64,
}

/// Steps, each by the event at which its last backward is over.
#[derive(Debug)]
pub(in crate::analysis) struct Steps {
    /// All of them, in order.
    pub(in crate::analysis) all: Vec<u32>,
    /// Those of which some event lies within the optimizer.
    pub(in crate::analysis) seen: Vec<u32>,
}

/// Find them.
pub(super) fn steps(timeline: &Timeline, places: &Places, acts: &Acts) -> Steps {
    let mut stretches = stretches(places, acts);
    weigh(&mut stretches, timeline, acts);
    let stepped = |s: &Stretch| s.has_step || (0 < s.left && s.left / 2 < s.dropped);
    let mut seen = (0..).zip(&stretches).filter(|(_, s)| stepped(s)).map(|(at, _)| at);
    let (first, second) = (seen.next(), seen.next());
    // Steps that allocate not only at first are all seen; then dropped gradients mean nothing.
    let late = stretches.iter().skip(stretches.len() / 2).any(|s| s.has_step) && 2 < stretches.len();
    // Gradients that each backward but the first leaves to be dropped: a program may keep its first.
    let ended = stretches.len().saturating_sub(1);
    let always = first == Some(1) && 3 <= ended && stretches.iter().take(ended).skip(1).all(stepped);
    let is_step = |at: usize, s: &Stretch| match (first, second) {
        _ if late => s.has_step,
        _ if always => true,
        // Steps that allocate only at first, and gradients that are never dropped: the first step
        // shows how many backwards there are for each.
        (Some(first), None) => at % (first + 1) == first,
        (Some(_), Some(_)) => stepped(s),
        (None, _) => true,
    };
    let ends = |s: &Stretch| s.goes_on != Some(true) && !s.perturbs;
    let all = stretches.iter().enumerate().filter(|&(at, s)| is_step(at, s) && ends(s));
    Steps {
        all: all.map(|(_, s)| s.end).collect(),
        seen: stretches.iter().filter(|s| s.has_step && ends(s)).map(|s| s.end).collect(),
    }
}

/// The call of an optimizer's step that is under way.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// The line from which its closure was called first; 0 if something else came first.
    line: u32,
    /// Whether something else came after that.
    has_left: bool,
    /// Whether it has done more than to forget gradients, or a closure's backward is over.
    has_begun: bool,
}

impl Open {
    /// The step that a run is part of. Steps of torch's optimizers call their closures first of all: another call
    /// from the same line, after something else, is another step's.
    fn after(before: Option<Self>, run: &Run) -> Option<Self> {
        if matches!(run.act, Act::Backward | Act::Aside) && !run.within_step {
            let is_backward = run.act == Act::Backward;
            return before.map(|open| Self { has_begun: open.has_begun || is_backward, ..open });
        }
        if !run.within_step {
            return None;
        }
        let line = run.closure_line;
        let is_first = |open: &Self| open.line == 0 || (line == open.line && open.has_left);
        match before.filter(|open| line == 0 || !is_first(open)) {
            Some(open) => Some(Self {
                has_left: open.has_left || line != open.line,
                has_begun: open.has_begun || run.act == Act::Step,
                ..open
            }),
            None => Some(Self { line, has_left: false, has_begun: run.act == Act::Step }),
        }
    }
}

fn stretches(places: &Places, acts: &Acts) -> Vec<Stretch> {
    let mut out: Vec<Stretch> = Vec::new();
    let mut is_open = false;
    let mut step: Option<Open> = None;
    for run in &acts.runs {
        let before = step;
        step = Open::after(before, run);
        let goes_on = run.within_step && step.is_some_and(|step| step.has_begun);
        if let Some(last) = out.last_mut().filter(|_| places.get(run.stack).perturbs) {
            last.perturbs = true;
        }
        match run.act {
            Act::Backward => {
                if let Some(last) = out.last_mut().filter(|_| is_open) {
                    last.end = run.end;
                } else {
                    is_open = true;
                    let has_step = before.is_some();
                    out.push(Stretch { start: run.start, end: run.end, has_step, ..Stretch::default() });
                }
            }
            Act::Step | Act::Gradients => {
                is_open = false;
                if let Some(last) = out.last_mut() {
                    last.has_step |= run.act == Act::Step;
                }
            }
            Act::Call => {
                is_open = false;
                if let Some(last) = out.last_mut() {
                    last.goes_on.get_or_insert(goes_on);
                }
            }
            _ => {}
        }
    }
    out
}

fn weigh(stretches: &mut [Stretch], timeline: &Timeline, acts: &Acts) {
    let lifetimes = &timeline.lifetimes;
    // How many more bytes of gradients there are after each stretch than after the one before.
    let mut more = vec![0i64; stretches.len() + 1];
    let mut at = 0;
    for id in (lifetimes.initial_count() as u32..lifetimes.len() as u32).map(AllocId) {
        let Some(event) = lifetimes.start(id).event() else { continue };
        while stretches.get(at).is_some_and(|s| s.end <= event.0) {
            at += 1;
        }
        let Some(stretch) = stretches.get(at) else { break };
        if event.0 < stretch.start || acts.at(event.0) != Act::Backward {
            continue;
        }
        let gone = lifetimes.requested(id).or(lifetimes.end(id)).and_then(Moment::event);
        // The first stretch that it does not outlive.
        let last = gone.map_or(stretches.len(), |gone| stretches.partition_point(|s| s.end <= gone.0));
        if last <= at {
            continue;
        }
        let size = lifetimes.size(id, &timeline.events).max(0);
        more[at] = more[at].saturating_add(size);
        more[last] = more[last].saturating_sub(size);
        let is_between = gone.is_some_and(|gone| stretches.get(last).is_none_or(|s| gone.0 < s.start));
        if let Some(stretch) = stretches.get_mut(last - 1).filter(|_| is_between) {
            stretch.dropped = stretch.dropped.saturating_add(size);
        }
    }
    let mut left = 0i64;
    for (stretch, more) in stretches.iter_mut().zip(more) {
        left = left.saturating_add(more);
        stretch.left = left;
    }
}

#[cfg(test)]
#[path = "steps_tests.rs"]
mod tests;
