//! The position of a moment in a program: phase and iteration, and how far they are known.

use super::phase::{Phase, PhaseBasis};
use super::phases::Phases;
use crate::model::Moment;

/// Phase and iteration of a moment. All numbers count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The phase of the program.
    pub phase: Phase,
    /// The evidence for the phase; `None` where it is unknown.
    pub basis: Option<PhaseBasis>,
    /// The iteration; `None` where there is none or it cannot be numbered.
    pub iteration: Option<u32>,
    /// The iteration among those that begin within the recording.
    pub iteration_of_recording: Option<u32>,
    /// Where the iteration cannot be numbered: the least that its number can be, if some step before it is known.
    pub iteration_at_least: Option<u32>,
}

impl Phases {
    /// The position of a moment.
    pub fn position_at(&self, moment: Moment) -> Position {
        let iteration = self.iteration_at(moment);
        let of_recording = self.iterations.recorded_at(moment);
        let ended = self.iterations.ended_at(moment).filter(|&ended| iteration.is_none() && 0 < ended);
        Position {
            phase: self.phase_at(moment),
            basis: self.basis_at(moment),
            iteration,
            iteration_of_recording: of_recording,
            iteration_at_least: ended,
        }
    }
}
