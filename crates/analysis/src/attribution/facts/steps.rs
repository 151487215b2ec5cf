//! Optimizer steps: the backwards after which an optimizer stepped.

use super::activities::{Activities, Activity, Run};
use super::facts_by_stack::FactsByStack;
use super::frees::free_event;
use super::stack_traits::StackTrait;
use crate::attribution::thresholds::MIN_AGREEING;
use oomscope_model::{Bytes, Timeline};

/// A stretch of backward work without a model's call or an optimizer's step in it.
#[derive(Debug, Clone, Copy, Default)]
struct BackwardStretch {
    start: u32,
    end: u32,
    /// A step was seen before the next stretch.
    has_step: bool,
    /// Parameters are perturbed for another backward: that is no step.
    perturbs: bool,
    /// Whether the next call is made by a closure within the same step; `None` if there is no next call.
    step_continues: Option<bool>,
    /// Bytes of gradients that were live at its end, older ones included.
    live_bytes: Bytes,
    /// Bytes of these that were freed before the next stretch.
    dropped_bytes: Bytes,
}

impl BackwardStretch {
    /// Whether a step was seen, or most gradients are dropped.
    fn shows_step(&self) -> bool {
        self.has_step || (0 < self.live_bytes && self.live_bytes / 2 < self.dropped_bytes)
    }

    /// Whether a step that follows it is over before the next backward.
    fn may_end_step(&self) -> bool {
        self.step_continues != Some(true) && !self.perturbs
    }
}

/// Steps, each by the event at which its last backward is over.
#[derive(Debug)]
pub(crate) struct OptimizerSteps {
    /// All steps, in order.
    pub(crate) all: Vec<u32>,
    /// The steps of which some event lies within the optimizer.
    pub(crate) seen: Vec<u32>,
}

/// Find the steps of a timeline.
pub(super) fn find_steps(
    timeline: &Timeline,
    stacks: &FactsByStack,
    activities: &Activities,
) -> OptimizerSteps {
    let mut stretches = backward_stretches(stacks, activities);
    sum_gradients(&mut stretches, timeline, activities);
    let is_step = step_pattern(&stretches);
    let all = stretches.iter().enumerate().filter(|&(at, s)| is_step(at, s) && s.may_end_step());
    OptimizerSteps {
        all: all.map(|(_, s)| s.end).collect(),
        seen: stretches.iter().filter(|s| s.has_step && s.may_end_step()).map(|s| s.end).collect(),
    }
}

/// Which stretches lead to a step, given all of them. Not every step allocates, and not every one drops its gradients.
fn step_pattern(stretches: &[BackwardStretch]) -> impl Fn(usize, &BackwardStretch) -> bool + use<> {
    let mut shown = (0..).zip(stretches).filter(|(_, s)| s.shows_step()).map(|(at, _)| at);
    let (first, second): (Option<usize>, Option<usize>) = (shown.next(), shown.next());
    // Steps that allocate not only at first are all seen; then dropped gradients mean nothing.
    let are_all_seen =
        MIN_AGREEING <= stretches.len() && stretches.iter().skip(stretches.len() / 2).any(|s| s.has_step);
    // Each backward but the first leaves gradients to be dropped: a program may keep its first.
    let ended = stretches.len().saturating_sub(1);
    let keeps_first = first == Some(1)
        && MIN_AGREEING <= ended
        && stretches.iter().take(ended).skip(1).all(BackwardStretch::shows_step);
    move |at, stretch| match (first, second) {
        _ if are_all_seen => stretch.has_step,
        _ if keeps_first => true,
        // Steps that allocate only at first, and gradients that are never dropped: the first step
        // shows how many backwards there are for each.
        (Some(first), None) => at % (first + 1) == first,
        (Some(_), Some(_)) => stretch.shows_step(),
        (None, _) => true,
    }
}

/// An optimizer's step that is under way.
#[derive(Debug, Clone, Copy)]
struct OpenStep {
    /// The line from which its closure was called first; 0 if something else came first.
    line: u32,
    /// Whether something else came after that.
    has_left: bool,
    /// Whether it has done more than to drop gradients, or a closure's backward is over.
    has_begun: bool,
}

impl OpenStep {
    /// The step that a run is part of. Steps of torch's optimizers call their closures first of all: another call
    /// from the same line, after something else, is another step's.
    fn after(before: Option<Self>, run: &Run) -> Option<Self> {
        if matches!(run.activity, Activity::Backward | Activity::Aside) && !run.within_step {
            let is_backward = run.activity == Activity::Backward;
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
                has_begun: open.has_begun || run.activity == Activity::Step,
                ..open
            }),
            None => Some(Self { line, has_left: false, has_begun: run.activity == Activity::Step }),
        }
    }
}

fn backward_stretches(stacks: &FactsByStack, activities: &Activities) -> Vec<BackwardStretch> {
    let mut out: Vec<BackwardStretch> = Vec::new();
    let mut is_open = false;
    let mut step: Option<OpenStep> = None;
    for run in &activities.runs {
        let before = step;
        step = OpenStep::after(before, run);
        let step_continues = run.within_step && step.is_some_and(|step| step.has_begun);
        let perturbs = stacks.get(run.stack).has(StackTrait::Perturbs);
        if let Some(last) = out.last_mut().filter(|_| perturbs) {
            last.perturbs = true;
        }
        match run.activity {
            Activity::Backward => {
                if let Some(last) = out.last_mut().filter(|_| is_open) {
                    last.end = run.end;
                } else {
                    is_open = true;
                    let has_step = before.is_some();
                    let (start, end) = (run.start, run.end);
                    out.push(BackwardStretch { start, end, has_step, ..BackwardStretch::default() });
                }
            }
            Activity::Step | Activity::Gradients => {
                is_open = false;
                if let Some(last) = out.last_mut() {
                    last.has_step |= run.activity == Activity::Step;
                }
            }
            Activity::Call => {
                is_open = false;
                if let Some(last) = out.last_mut() {
                    last.step_continues.get_or_insert(step_continues);
                }
            }
            _ => {}
        }
    }
    out
}

/// Sum up the gradients that are live after each stretch, and those that are dropped before the next.
fn sum_gradients(stretches: &mut [BackwardStretch], timeline: &Timeline, activities: &Activities) {
    let lifetimes = &timeline.lifetimes;
    // By how many bytes the gradients after each stretch exceed those after the one before.
    let mut growth_bytes = vec![Bytes::ZERO; stretches.len() + 1];
    let mut at = 0;
    for id in lifetimes.ids().skip(lifetimes.initial_count()) {
        let Some(event) = lifetimes.start(id).event() else { continue };
        while stretches.get(at).is_some_and(|s| s.end <= event.0) {
            at += 1;
        }
        let Some(stretch) = stretches.get(at) else { break };
        if event.0 < stretch.start || activities.at(event.0) != Activity::Backward {
            continue;
        }
        let freed = free_event(lifetimes, id);
        // The first stretch that it does not outlive.
        let last = freed.map_or(stretches.len(), |freed| stretches.partition_point(|s| s.end <= freed.0));
        if last <= at {
            continue;
        }
        // Sizes of a damaged file may add up to more than any number holds.
        let size = timeline.size(id).or_zero();
        growth_bytes[at] += size;
        growth_bytes[last] -= size;
        let is_between = freed.is_some_and(|freed| stretches.get(last).is_none_or(|s| freed.0 < s.start));
        if let Some(stretch) = stretches.get_mut(last - 1).filter(|_| is_between) {
            stretch.dropped_bytes += size;
        }
    }
    let mut live_bytes = Bytes::ZERO;
    for (stretch, growth_bytes) in stretches.iter_mut().zip(growth_bytes) {
        live_bytes += growth_bytes;
        stretch.live_bytes = live_bytes;
    }
}

#[cfg(test)]
#[path = "steps_tests.rs"]
mod tests;
