//! A recording between the steps that torch announced.

use super::humps::{Hump, SCALAR_BYTES};
use super::tape::{Mark, Tape};
use super::window::Window;
use crate::analysis::attribution::facts::{Announced, Work};

/// Fewer allocations between two steps are no pass: two optimizers step one after the other.
const MIN_PASS: usize = 4;

/// Small buffers and numbers are made by optimizers.
const SMALL_BYTES: i64 = 64 << 10;

/// So many larger allocations in a step that are not as large as parameters are a model's.
const MIN_FOREIGN: usize = 16;

/// What lies between two steps, and the step after it.
pub(super) struct Round {
    pub(super) window: Window,
    /// The first event that makes something; `None` if nothing does.
    pub(super) begins: Option<u32>,
    /// Whether that is enough for a pass.
    pub(super) is_pass: bool,
    /// The first event after the step; none after the last.
    pub(super) step_end: Option<u32>,
    /// Whether a closure's passes lie within the step.
    pub(super) is_closure: bool,
}

impl Round {
    fn of(tape: &Tape<'_>, announced: &Announced, from: u32, step: Option<&Work>) -> Self {
        let is_closure = step.is_some_and(|step| is_closure(tape, from, step));
        let to = step.map_or(tape.len(), |step| step.events[usize::from(is_closure)]).max(from);
        let is_made =
            |&event: &u32| matches!(tape.at(event), Mark::Birth(id) if SCALAR_BYTES < tape.size(id));
        let made: Vec<u32> = (from..to)
            .filter(is_made)
            .filter(|&event| !announced.is_in_zero_grad(event))
            .take(MIN_PASS)
            .collect();
        Self {
            window: Window { from, to, leads_to_step: step.is_some() },
            begins: made.first().copied(),
            is_pass: made.len() == MIN_PASS,
            step_end: step.map(|step| step.events[1]),
            is_closure,
        }
    }

    /// The passes within it; none if a step follows and none of them trains.
    pub(super) fn passes<'h>(&self, humps: &'h [Hump]) -> &'h [Hump] {
        let before = |event: u32| humps.partition_point(|hump| hump.backward < event);
        let passes = humps.get(before(self.window.from)..before(self.window.to)).unwrap_or_default();
        let is_told = self.step_end.is_none() || passes.iter().any(|hump| hump.trains);
        if is_told { passes } else { &[] }
    }

    /// Where the first pass begins that trains.
    pub(super) fn trained_from(&self, humps: &[Hump]) -> Option<u32> {
        self.passes(humps).iter().find(|hump| hump.trains).map(|hump| hump.data)
    }
}

/// Whether a step calls a closure, which calls the model: it drops gradients, or much is made in it that neither has
/// the size of a parameter nor is small, and next to nothing between the step before and this one.
fn is_closure(tape: &Tape<'_>, from: u32, step: &Work) -> bool {
    let is_foreign = |&id: &u32| SMALL_BYTES < tape.size(id) && !tape.is_like_parameter(id);
    let foreign = || tape.births(step.events[0], step.events[1]).filter(is_foreign);
    // Where the trace begins late, the pass may be lost.
    let follows_none =
        || 0 < from && tape.births(from, step.events[0]).take(MIN_FOREIGN).count() < MIN_FOREIGN;
    step.drops_gradients || (follows_none() && foreign().take(MIN_FOREIGN).count() == MIN_FOREIGN)
}

/// All rounds; the last has no step. A closure's step that is not over belongs to it.
pub(super) fn rounds(tape: &Tape<'_>, announced: &Announced, is_from_start: bool) -> Vec<Round> {
    let mut out: Vec<Round> = Vec::new();
    let mut from = if is_from_start { tape.after_parameters() } else { 0 };
    for step in announced.within_trace().map(Some).chain([None]) {
        if step.is_some_and(|step| step.is_open && is_closure(tape, from, step)) {
            continue;
        }
        let round = Round::of(tape, announced, from, step);
        from = round.step_end.unwrap_or(0).max(round.window.to);
        out.push(round);
    }
    out
}
