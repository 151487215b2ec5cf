//! What makes a remedy applicable: a fact of the recording, and the line of the program that it is about.

use super::scene::Scene;
use oomscope_analysis::{frame_line, site_frame};
use oomscope_model::{AllocId, FrameId};
use oomscope_units as units;

/// A fact without which a remedy does not apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Precondition {
    /// The fact, as a clause.
    pub fact: String,
    /// The line of the program, such as `train.py:55 attention`; `None` where no stack shows one.
    pub line: Option<String>,
}

impl Precondition {
    /// A fact about no line.
    pub(super) fn new(fact: impl Into<String>) -> Self {
        Self { fact: fact.into(), line: None }
    }

    /// A fact about the line that made some allocations.
    pub(super) fn of(scene: &Scene<'_>, fact: impl Into<String>, ids: &[AllocId]) -> Self {
        Self::new(fact).at(scene, scene.workload().line(ids))
    }

    /// A fact about the line that calls the model which made some allocations.
    pub(super) fn of_call(scene: &Scene<'_>, fact: impl Into<String>, ids: &[AllocId]) -> Self {
        let workload = scene.workload();
        Self::new(fact).at(scene, workload.call(ids).or_else(|| workload.line(ids)))
    }

    /// That an optimizer keeps state.
    pub(super) fn of_state(scene: &Scene<'_>, state: &[AllocId]) -> Self {
        Self::of(scene, format!("the optimizer keeps {} of state", most(scene, state)), state)
    }

    /// The same fact about a line.
    pub(super) fn at(mut self, scene: &Scene<'_>, frame: Option<FrameId>) -> Self {
        self.line = frame.map(|frame| frame_line(&site_frame(scene.run.recording.snapshot(), frame)));
        self
    }

    /// The fact with its line.
    pub fn text(&self) -> String {
        match &self.line {
            Some(line) => format!("{} ({line})", self.fact),
            None => self.fact.clone(),
        }
    }
}

/// The most bytes of some allocations at once, as text.
pub(super) fn most(scene: &Scene<'_>, ids: &[AllocId]) -> String {
    units::bytes(i64::try_from(scene.run.most_at_once(ids)).unwrap_or(i64::MAX))
}
