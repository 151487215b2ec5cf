//! Where in a program a moment lies: phase and iteration, and how far they are known.

use super::{Phase, PhaseBasis, Phases};
use crate::analysis::attribution::facts::Places;
use crate::analysis::attribution::{Categories, Category, RuleId};
use crate::model::{AllocId, Moment, StackId, Timeline};

/// Rules that tell state from parameters by how many blocks there are.
const PAIRED: [RuleId; 3] = [RuleId::OldPairs, RuleId::LiesLater, RuleId::PairsAndStays];

/// Phase and iteration of a moment. All numbers count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// What the program was doing.
    pub phase: Phase,
    /// What that is known by; `None` where it is unknown.
    pub basis: Option<PhaseBasis>,
    /// The iteration; `None` where there is none or it cannot be numbered.
    pub iteration: Option<u32>,
    /// The iteration among those that begin within the recording.
    pub iteration_of_recording: Option<u32>,
    /// Where the iteration cannot be numbered: the least that its number can be, if some step before it is known.
    pub iteration_at_least: Option<u32>,
}

impl Phases {
    /// Where a moment lies.
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

    /// Whether an optimizer had stepped before the recording began: state that was made within a step
    /// is there already, or twice as much state as there are parameters, where gradients tell which
    /// blocks these are. Some optimizers make one state for each parameter when they are made themselves.
    pub(in crate::analysis) fn look_at_the_start(
        &mut self,
        timeline: &Timeline,
        places: &Places,
        categories: &Categories,
    ) {
        let (mut paired, mut parameters) = (0i64, 0i64);
        let mut is_made_in_step = false;
        for id in (0..timeline.lifetimes.initial_count() as u32).map(AllocId) {
            let size = timeline.lifetimes.size(id, &timeline.events).max(0);
            let stack = timeline.lifetimes.stack(id, &timeline.events);
            let is_paired = stack == StackId::EMPTY && PAIRED.contains(&categories.rule(id));
            match categories.get(id) {
                Category::OptimizerState if is_paired => paired = paired.saturating_add(size),
                Category::OptimizerState => is_made_in_step |= places.get(stack).within_step,
                Category::Parameter if is_paired => parameters = parameters.saturating_add(size),
                _ => {}
            }
        }
        let has_backward =
            !self.is_between_steps && self.phases.iter().any(|start| start.phase == Phase::Backward);
        let is_paired = has_backward && 0 < parameters && parameters.saturating_mul(2) <= paired;
        self.iterations.ended_before = u32::from(is_made_in_step || is_paired);
    }
}
