//! Allocations outside of models, optimizers and autograd.

use super::assign::Scene;
use super::without_modules::Lines;
use super::{Category, Reason, Verdict};
use crate::analysis::flow::{Act, Part};
use crate::analysis::phases::Phase;
use crate::model::{AllocId, EventIx, Moment, StackId};

/// Judges them by phase, lifetime, and what other allocations of the same stack do.
pub(super) struct MainCode<'a> {
    scene: &'a Scene<'a>,
    /// What stacks do in programs that call no modules.
    lines: Option<Lines>,
    /// Whether anything is trained.
    trains: bool,
    /// Whether it is known what models are, so that what is outside of them is known, too.
    knows_models: bool,
}

impl<'a> MainCode<'a> {
    pub(super) fn new(scene: &'a Scene<'a>) -> Self {
        let lines = scene.flow.calls.is_empty().then(|| Lines::of(scene));
        let trains = scene.flow.acts.runs.iter().any(|run| run.act == Act::Backward);
        let knows_models = !scene.flow.calls.is_empty() || scene.places.show_torch();
        Self { scene, lines, trains, knows_models }
    }

    pub(super) fn verdict(&self, id: AllocId, stack: StackId, part: Part) -> Verdict {
        let Some(start) = self.scene.timeline.lifetimes.start(id).event() else {
            return self.before_the_recording(stack);
        };
        if !self.trains && self.scene.places.get(stack).in_cache {
            return (Category::KvCache, Reason::CacheCode);
        }
        match self.scene.phases.phase_at(Moment::after(start)) {
            Phase::Forward => (Category::Activation, Reason::Loss),
            Phase::Eval => self.after_eval(id, stack, start),
            _ if self.is_input(id, stack, start) && !self.scene.places.get(stack).perturbs => {
                (Category::Input, Reason::BeforeCall)
            }
            Phase::Init | Phase::Data | Phase::Unknown if !self.scene.flow.calls.is_empty() => {
                self.before_calls(id, start, part)
            }
            _ => match &self.lines {
                Some(lines) => lines.verdict(self.scene, id, stack, start),
                None => self.between_steps(id, stack, start),
            },
        }
    }

    /// Only its stack is known. A program that works without modules of torch makes its weights itself.
    fn before_the_recording(&self, stack: StackId) -> Verdict {
        let place = self.scene.places.get(stack);
        match self.knows_models {
            true => (Category::Input, Reason::BeforeFirstCall),
            false if place.in_init || place.for_weights => (Category::Parameter, Reason::WeightCode),
            false => (Category::Unknown, Reason::OldOutside),
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

    fn between_steps(&self, id: AllocId, stack: StackId, start: EventIx) -> Verdict {
        let calls = &self.scene.flow.calls;
        let next = calls.get(calls.partition_point(|call| call.start <= start.0));
        let waits = next.is_some_and(|call| self.scene.gone(id).is_none_or(|gone| call.start < gone.0));
        match (self.scene.gone(id), next) {
            _ if waits && self.scene.places.get(stack).perturbs => {
                (Category::OptimizerState, Reason::KeptAfterStep)
            }
            (None, _) if self.scene.places.get(stack).perturbs => {
                (Category::OptimizerState, Reason::KeptAfterStep)
            }
            _ if waits && self.scene.flow.inputs.precedes_a_line(stack) => {
                (Category::Input, Reason::BeforeCall)
            }
            _ if self.is_used_by_backward(id) => (Category::Activation, Reason::Loss),
            (None, _) => (Category::Other, Reason::KeptOutside),
            (Some(gone), Some(call)) if call.start < gone.0 => (Category::Other, Reason::KeptOutside),
            (Some(_), _) => (Category::Temporary, Reason::BetweenSteps),
        }
    }
}
