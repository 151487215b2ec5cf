//! Allocations outside of models, optimizers and autograd.

use super::assign::Scene;
use super::{Category, Reason, Verdict};
use crate::analysis::flow::{Act, Part};
use crate::analysis::phases::Phase;
use crate::model::{AllocId, EventIx, Moment, StackId};

/// Judges them by phase, lifetime, and what other allocations of the same stack do.
pub(super) struct MainCode<'a> {
    scene: &'a Scene<'a>,
}

impl<'a> MainCode<'a> {
    pub(super) fn new(scene: &'a Scene<'a>) -> Self {
        Self { scene }
    }

    pub(super) fn verdict(&self, id: AllocId, stack: StackId, part: Part) -> Verdict {
        let Some(start) = self.scene.timeline.lifetimes.start(id).event() else {
            return (Category::Input, Reason::BeforeFirstCall);
        };
        match self.scene.phases.phase_at(Moment::after(start)) {
            Phase::Forward => (Category::Activation, Reason::Loss),
            Phase::Eval => self.after_eval(id, stack, start),
            _ if self.is_input(id, stack, start) => (Category::Input, Reason::BeforeCall),
            Phase::Init | Phase::Data | Phase::Unknown => self.before_calls(id, start, part),
            _ => self.between_steps(id, start),
        }
    }

    /// Live when the next call starts, by code whose allocations are usually gone soon after.
    fn is_input(&self, id: AllocId, stack: StackId, start: EventIx) -> bool {
        let calls = &self.scene.flow.calls;
        let next = calls.partition_point(|call| call.start <= start.0);
        match (calls.get(next), self.scene.flow.inputs.is_input(stack)) {
            (Some(call), Some(true)) => self.scene.gone(id).is_none_or(|gone| call.start < gone.0),
            (None, Some(true)) => true,
            _ => false,
        }
    }

    /// Whether a backward used it.
    fn is_used_by_backward(&self, id: AllocId) -> bool {
        self.scene.gone(id).is_some_and(|gone| self.scene.flow.acts.at(gone.0) == Act::Backward)
    }

    fn after_eval(&self, id: AllocId, stack: StackId, start: EventIx) -> Verdict {
        let calls = &self.scene.flow.calls;
        let before = calls.partition_point(|call| call.start <= start.0);
        let keeps = before.checked_sub(1).and_then(|at| calls.get(at)).is_some_and(|call| call.keeps());
        if self.is_input(id, stack, start) {
            (Category::Input, Reason::BeforeCall)
        } else if keeps {
            (Category::Activation, Reason::Result)
        } else {
            (Category::Other, Reason::Result)
        }
    }

    /// Before the first call, or while data is loaded.
    fn before_calls(&self, id: AllocId, start: EventIx, part: Part) -> Verdict {
        let calls = &self.scene.flow.calls;
        let next = calls.get(calls.partition_point(|call| call.start <= start.0));
        let gone = self.scene.gone(id);
        if self.is_used_by_backward(id) {
            (Category::Activation, Reason::Loss)
        } else if next.is_some_and(|call| gone.is_some_and(|gone| gone.0 < call.start)) {
            (Category::Temporary, Reason::BetweenSteps)
        } else if part == Part::Restore {
            (Category::Other, Reason::KeptOutside)
        } else {
            (Category::Input, Reason::BeforeFirstCall)
        }
    }

    fn between_steps(&self, id: AllocId, start: EventIx) -> Verdict {
        let calls = &self.scene.flow.calls;
        let next = calls.get(calls.partition_point(|call| call.start <= start.0));
        match (self.scene.gone(id), next) {
            _ if self.is_used_by_backward(id) => (Category::Activation, Reason::Loss),
            (None, _) => (Category::Other, Reason::KeptOutside),
            (Some(gone), Some(call)) if call.start < gone.0 => (Category::Other, Reason::KeptOutside),
            (Some(_), _) => (Category::Temporary, Reason::BetweenSteps),
        }
    }
}
