//! Phase and iteration of a moment: as text and for JSON.

use oomscope_analysis::{Phase, PhaseBasis, Phases, Position};
use oomscope_model::Moment;
use oomscope_program::projection::{Turn, TurnKind};
use oomscope_units as units;
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
    Turn::of_position(position).map(turn_text)
}

/// The name of an iteration, or of a call of a model.
pub(super) fn turn_text(turn: Turn) -> String {
    let number = units::count(turn.number);
    match turn.kind {
        TurnKind::Iteration => format!("iteration {number}"),
        TurnKind::IterationOfRecording => format!("iteration {number} of the recording"),
        TurnKind::Call => format!("call {number} of the model"),
    }
}
