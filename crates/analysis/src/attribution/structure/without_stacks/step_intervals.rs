//! A recording, divided by the steps that torch announced.

use super::between_passes::SCRATCH_BYTES;
use super::lifetimes_by_event::LifetimesByEvent;
use super::passes::Pass;
use super::window::{MIN_BLOCKS_OF_PASS, Window};
use crate::attribution::facts::{Announced, AnnouncedRange};
use crate::attribution::thresholds::MIN_BLOCKS_OF_MODEL;

/// The events between two steps, and the step after them.
pub(super) struct StepInterval {
    pub(super) window: Window,
    /// The first event that makes something; `None` if nothing does.
    pub(super) first_alloc: Option<u32>,
    /// Whether enough is made for a pass.
    pub(super) may_be_pass: bool,
    /// The first event after the step; `None` after the last.
    pub(super) step_end: Option<u32>,
    /// Whether a closure's passes lie within the step.
    pub(super) has_closure: bool,
}

impl StepInterval {
    fn of(
        lifetimes: &LifetimesByEvent<'_>,
        announced: &Announced,
        from: u32,
        step: Option<&AnnouncedRange>,
    ) -> Self {
        let has_closure = step.is_some_and(|step| has_closure(lifetimes, from, step));
        let to = step.map_or(lifetimes.event_count(), |step| step.events[usize::from(has_closure)]).max(from);
        let is_made = |&event: &u32| lifetimes.allocated_at(event).is_some_and(|id| !lifetimes.is_scalar(id));
        let made: Vec<u32> = (from..to)
            .filter(is_made)
            .filter(|&event| !announced.is_in_zero_grad(event))
            .take(MIN_BLOCKS_OF_PASS)
            .collect();
        Self {
            window: Window { from, to, leads_to_step: step.is_some() },
            first_alloc: made.first().copied(),
            may_be_pass: made.len() == MIN_BLOCKS_OF_PASS,
            step_end: step.map(|step| step.events[1]),
            has_closure,
        }
    }

    /// The passes within it; none if a step follows and none of them trains.
    pub(super) fn passes<'p>(&self, passes: &'p [Pass]) -> &'p [Pass] {
        let before = |event: u32| passes.partition_point(|pass| pass.backward < event);
        let own = passes.get(before(self.window.from)..before(self.window.to)).unwrap_or_default();
        let are_sure = self.step_end.is_none() || own.iter().any(|pass| pass.trains);
        if are_sure { own } else { &[] }
    }

    /// The first event of the first pass that trains.
    pub(super) fn trains_from(&self, passes: &[Pass]) -> Option<u32> {
        self.passes(passes).iter().find(|pass| pass.trains).map(|pass| pass.data)
    }
}

/// Whether a step calls a closure, which calls the model: it drops gradients, or much is made in it that neither has
/// the size of a parameter nor is small, and next to nothing between the step before and this one.
fn has_closure(lifetimes: &LifetimesByEvent<'_>, from: u32, step: &AnnouncedRange) -> bool {
    let [start, end] = step.events;
    let is_of_model = || {
        let made = lifetimes.allocated_in(start, end);
        let foreign =
            made.filter(|&id| SCRATCH_BYTES < lifetimes.size(id) && !lifetimes.is_parameter_sized(id));
        foreign.take(MIN_BLOCKS_OF_MODEL).count() == MIN_BLOCKS_OF_MODEL
    };
    // Where the trace begins late, the pass before its first step may be lost.
    let follows_no_pass = || {
        let made = lifetimes.allocated_in(from, start);
        0 < from && made.take(MIN_BLOCKS_OF_MODEL).count() < MIN_BLOCKS_OF_MODEL
    };
    step.drops_gradients || (follows_no_pass() && is_of_model())
}

/// Divide a recording; the last interval has no step. A closure's step that is not over belongs to the interval before it.
pub(super) fn step_intervals(
    lifetimes: &LifetimesByEvent<'_>,
    announced: &Announced,
    is_from_start: bool,
) -> Vec<StepInterval> {
    let mut out: Vec<StepInterval> = Vec::new();
    let mut from = if is_from_start { lifetimes.after_parameters } else { 0 };
    for step in announced.within_trace().map(Some).chain([None]) {
        if step.is_some_and(|step| step.is_open && has_closure(lifetimes, from, step)) {
            continue;
        }
        let interval = StepInterval::of(lifetimes, announced, from, step);
        from = interval.step_end.unwrap_or(0).max(interval.window.to);
        out.push(interval);
    }
    out
}
