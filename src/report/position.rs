//! Phase and iteration of a moment: as text and for JSON.

use crate::analysis::{Phase, PhaseBasis, Phases, Position};
use crate::model::Moment;
use crate::remedies::LastIteration;
use crate::units;
use serde::Serialize;

/// Iterations are counted from 0; null where the recording starts too late to know their number.
#[derive(Serialize)]
pub(super) struct PlaceRecord {
    phase: &'static str,
    phase_basis: Option<&'static str>,
    iteration: Option<u32>,
    iteration_of_recording: Option<u32>,
    iteration_at_least: Option<u32>,
}

/// The place of a moment, for JSON.
pub(super) fn place(phases: &Phases, moment: Moment) -> PlaceRecord {
    place_of(phases.position_at(moment))
}

/// A phase and iteration, for JSON.
pub(super) fn place_of(position: Position) -> PlaceRecord {
    PlaceRecord {
        phase: position.phase.key(),
        phase_basis: position.basis.map(PhaseBasis::key),
        iteration: position.iteration,
        iteration_of_recording: position.iteration_of_recording,
        iteration_at_least: position.iteration_at_least,
    }
}

/// Phase and iteration; `None` where the phase is unknown.
pub(super) fn position_text(position: Position) -> Option<String> {
    let basis = position.basis?;
    // What is live shows that a step was made, not that it is still under way.
    let is_after = basis == PhaseBasis::LiveMemory && position.phase == Phase::Optimizer;
    let mut parts = vec![format!("{} phase {}", if is_after { "after" } else { "in" }, position.phase.key())];
    parts.extend(iteration_text(position));
    parts
        .extend(position.iteration_at_least.map(|n| format!("at least {} of the training", units::count(n))));
    parts.extend(basis.text().map(str::to_owned));
    Some(parts.join(", "))
}

/// The iteration of a position; `None` where there is none.
pub(super) fn iteration_text(position: Position) -> Option<String> {
    let known = position.iteration.map(|number| (number, false));
    let (number, is_of_recording) =
        known.or_else(|| position.iteration_of_recording.map(|number| (number, true)))?;
    Some(last_iteration_text(LastIteration { number, is_of_recording }))
}

/// The last of some iterations.
pub(super) fn last_iteration_text(last: LastIteration) -> String {
    let within = if last.is_of_recording { " of the recording" } else { "" };
    format!("iteration {}{within}", units::count(last.number))
}
