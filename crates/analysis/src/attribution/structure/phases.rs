//! The phases and iterations of one device, and the questions to them.

use super::iterations::Iterations;
use super::phase::{Phase, PhaseBasis, PhaseStart, phase_start_at};
use oomscope_model::{EventIx, Moment};

/// A call of a model from outside of any model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelCall {
    /// Its first event.
    pub event: EventIx,
    /// Whether its activations are for a backward pass.
    pub trains: bool,
}

/// Iterations and phases of one device: its course as facts show it, which rules read, and then what categories add.
#[derive(Debug, Default)]
pub struct Phases {
    /// Starts of phases, in order; the first starts with the first event.
    pub phases: Vec<PhaseStart>,
    /// The iterations. Facts number them if their numbers were announced, or the recording shows the first.
    pub iterations: Iterations,
    /// Calls of models, in order.
    pub calls: Vec<ModelCall>,
    /// How many optimizer steps torch announced before the first event.
    pub steps_before: usize,
    /// Whether the phases are read from sizes and lifetimes between announced steps rather than from stacks.
    pub(super) is_between_steps: bool,
    /// Whether torch announced the steps within the trace.
    pub(super) are_steps_announced: bool,
    /// Ranges of events whose phase is in the program's metadata.
    pub(super) from_metadata: Vec<[u32; 2]>,
    /// The phase after the last event, judging by what is live; only set where no event tells it.
    pub(super) at_end: Option<Phase>,
    /// Number of events.
    pub(super) events: u32,
}

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
    /// Whether torch announced the optimizer's steps within the trace.
    pub fn has_announced_steps(&self) -> bool {
        self.are_steps_announced
    }

    /// Whether any phase is a backward.
    pub(super) fn has_backward(&self) -> bool {
        self.phases.iter().any(|start| start.phase == Phase::Backward)
    }

    /// The first event of the backward that a moment lies in; `None` in other phases.
    pub fn backward_at(&self, moment: Moment) -> Option<EventIx> {
        self.start_before(moment).filter(|start| start.phase == Phase::Backward).map(|start| start.event)
    }

    /// The phase that the event before a moment belongs to. If no event tells the last one, what is live then may.
    pub fn phase_at(&self, moment: Moment) -> Phase {
        self.with_basis_at(moment).0
    }

    /// The evidence for the phase at a moment; `None` where it is unknown.
    pub fn basis_at(&self, moment: Moment) -> Option<PhaseBasis> {
        self.with_basis_at(moment).1
    }

    fn with_basis_at(&self, moment: Moment) -> (Phase, Option<PhaseBasis>) {
        let event = moment.event().map_or(0, |event| event.0);
        let after = self.from_metadata.partition_point(|range| range[0] <= event);
        let range = after.checked_sub(1).and_then(|at| self.from_metadata.get(at));
        let basis = match range.filter(|range| event < range[1]) {
            Some(_) => PhaseBasis::Metadata,
            None if self.is_between_steps => PhaseBasis::Announced,
            None => PhaseBasis::Events,
        };
        match (self.of_event_before(moment), self.at_end) {
            (Phase::Unknown, Some(phase)) if self.events <= moment.0 => (phase, Some(PhaseBasis::LiveMemory)),
            (Phase::Unknown, _) => (Phase::Unknown, None),
            (phase, _) => (phase, Some(basis)),
        }
    }

    /// The phases in order, each with its first event and the one after its last. `end` is the number of events.
    pub fn spans(&self, end: u32) -> impl Iterator<Item = (Phase, [u32; 2])> + '_ {
        let ends = self.phases.iter().skip(1).map(|start| start.event.0).chain([end]);
        self.phases.iter().zip(ends).map(|(start, end)| (start.phase, [start.event.0, end]))
    }

    /// The number of the iteration that the event before a moment belongs to, from 0. `None` before
    /// the first, and where the recording starts too late to number them.
    pub fn iteration_at(&self, moment: Moment) -> Option<u32> {
        self.iterations.number_at(moment)
    }

    /// The position of a moment.
    pub fn position_at(&self, moment: Moment) -> Position {
        let iteration = self.iteration_at(moment);
        let (phase, basis) = self.with_basis_at(moment);
        let ended = self.iterations.ended_at(moment).filter(|&ended| iteration.is_none() && 0 < ended);
        Position {
            phase,
            basis,
            iteration,
            iteration_of_recording: self.iterations.recorded_at(moment),
            iteration_at_least: ended,
        }
    }

    /// The phase of the event before a moment, whatever is live then.
    pub(crate) fn of_event_before(&self, moment: Moment) -> Phase {
        self.start_before(moment).map_or(Phase::Unknown, |start| start.phase)
    }

    /// The start of the phase that the event before a moment belongs to.
    pub(super) fn start_before(&self, moment: Moment) -> Option<&PhaseStart> {
        phase_start_at(&self.phases, moment.event().map_or(0, |event| event.0))
    }
}
