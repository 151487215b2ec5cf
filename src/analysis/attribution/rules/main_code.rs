//! Allocations outside of models, optimizers and autograd.

use super::without_modules::Lines;
use super::{Category, Claims, RuleId, Verdict, View};
use crate::analysis::attribution::facts::{Act, Part};
use crate::analysis::attribution::structure::Phase;
use crate::model::{AllocId, EventIx, Moment, StackId};

/// Claim what the program's own code makes.
pub(super) fn find(view: &View<'_>, claims: &mut Claims) {
    let main_code = MainCode::new(view);
    for id in view.ids().filter(|&id| claims.asks(id)).collect::<Vec<_>>() {
        let stack = view.stack(id);
        let part = view.places.get(stack).part;
        let is_own = matches!(part, Part::Main | Part::Restore | Part::BetweenSteps | Part::ZeroGrad);
        if is_own && !(part == Part::Main && view.places.is_compiled) {
            claims.claim(id, main_code.verdict(id, stack, part));
        }
    }
}

/// Judges them by phase, lifetime, and what other allocations of the same stack do.
struct MainCode<'a> {
    view: &'a View<'a>,
    /// What stacks do in programs that call no modules.
    lines: Option<Lines>,
    /// Whether anything is trained.
    trains: bool,
    /// Whether it is known what models are, so that what is outside of them is known, too.
    knows_models: bool,
}

impl<'a> MainCode<'a> {
    fn new(view: &'a View<'a>) -> Self {
        let lines = view.flow.calls.is_empty().then(|| Lines::of(view));
        let trains = view.flow.acts.runs.iter().any(|run| run.act == Act::Backward);
        let knows_models = !view.flow.calls.is_empty() || view.places.show_torch();
        Self { view, lines, trains, knows_models }
    }

    fn verdict(&self, id: AllocId, stack: StackId, part: Part) -> Verdict {
        let Some(start) = self.view.timeline.lifetimes.start(id).event() else {
            return self.before_the_recording(stack);
        };
        if !self.trains && self.view.places.get(stack).in_cache {
            return Verdict::new(Category::KvCache, RuleId::CacheCode);
        }
        match self.view.phases.phase_at(Moment::after(start)) {
            Phase::Forward if self.is_left_behind(id, start) => Verdict::OPEN,
            Phase::Forward => Verdict::new(Category::Activation, RuleId::Loss),
            Phase::Eval => self.after_eval(id, stack, start),
            _ if self.is_input(id, stack, start) && !self.view.places.get(stack).perturbs => self.input(id),
            Phase::Init | Phase::Data | Phase::Unknown if !self.view.flow.calls.is_empty() => {
                self.before_calls(id, stack, start, part)
            }
            _ => match &self.lines {
                Some(lines) => lines.verdict(self.view, id, stack, start),
                None => self.between_steps(id, stack, start),
            },
        }
    }

    /// Only its stack is known. A program that works without modules of torch makes its weights itself.
    fn before_the_recording(&self, stack: StackId) -> Verdict {
        let place = self.view.places.get(stack);
        match self.knows_models {
            _ if place.computes => Verdict::new(Category::Activation, RuleId::FunctionalCode),
            true => Verdict::new(Category::Input, RuleId::KeptBeforeCalls),
            false if place.in_init || place.for_weights => {
                Verdict::new(Category::Parameter, RuleId::WeightCode)
            }
            false => Verdict::new(Category::Unknown, RuleId::StackOnly),
        }
    }

    /// Live when the next call starts, by code whose allocations are usually gone soon after.
    fn is_input(&self, id: AllocId, stack: StackId, start: EventIx) -> bool {
        let calls = &self.view.flow.calls;
        let next = calls.partition_point(|call| call.start <= start.0);
        match (calls.get(next), self.view.flow.inputs.is_input(stack)) {
            (Some(call), Some(true)) => self.view.gone(id).is_none_or(|gone| call.start < gone.0),
            (None, Some(true)) => true,
            _ => false,
        }
    }

    /// An input: of what is still there, only others of its line tell.
    fn input(&self, id: AllocId) -> Verdict {
        let rule = match self.view.gone(id) {
            Some(_) => RuleId::InputOfCall,
            None => RuleId::InputLikeOthers,
        };
        Verdict::new(Category::Input, rule)
    }

    /// Whether nothing in the recording uses it although the program went on to the next round: that is for no backward.
    fn is_left_behind(&self, id: AllocId, start: EventIx) -> bool {
        let calls = &self.view.flow.calls;
        let before = calls.partition_point(|call| call.start <= start.0).checked_sub(1);
        !self.trains
            && self.view.gone(id).is_none()
            && before.is_some_and(|before| self.view.flow.inputs.comes_again(before))
    }

    fn after_eval(&self, id: AllocId, stack: StackId, start: EventIx) -> Verdict {
        let calls = &self.view.flow.calls;
        let before = calls.partition_point(|call| call.start <= start.0);
        let keeps = before.checked_sub(1).and_then(|at| calls.get(at)).is_some_and(|call| call.keeps());
        if self.is_input(id, stack, start) {
            self.input(id)
        } else if keeps {
            Verdict::new(Category::Activation, RuleId::Result)
        } else {
            Verdict::new(Category::Other, RuleId::Result)
        }
    }

    /// Before the first call, or while data is loaded.
    fn before_calls(&self, id: AllocId, stack: StackId, start: EventIx, part: Part) -> Verdict {
        let calls = &self.view.flow.calls;
        let next = calls.get(calls.partition_point(|call| call.start <= start.0));
        let gone = self.view.gone(id);
        let stays = self.view.flow.inputs.is_never_given_back(stack);
        if self.view.is_given_back_by_backward(id) {
            Verdict::new(Category::Activation, RuleId::Loss)
        } else if next.is_some_and(|call| gone.is_some_and(|gone| gone.0 < call.start)) {
            Verdict::new(Category::Temporary, RuleId::BetweenSteps)
        } else if stays || part == Part::Restore {
            Verdict::OPEN
        } else {
            Verdict::new(Category::Input, RuleId::KeptBeforeCalls)
        }
    }

    fn between_steps(&self, id: AllocId, stack: StackId, start: EventIx) -> Verdict {
        let calls = &self.view.flow.calls;
        let next = calls.get(calls.partition_point(|call| call.start <= start.0));
        let stays = self.view.flow.inputs.is_never_given_back(stack);
        let waits = next.is_some_and(|call| self.view.gone(id).is_none_or(|gone| call.start < gone.0));
        match (self.view.gone(id), next) {
            _ if waits && self.view.places.get(stack).perturbs => {
                Verdict::new(Category::OptimizerState, RuleId::Perturbed)
            }
            (None, _) if self.view.places.get(stack).perturbs => {
                Verdict::new(Category::OptimizerState, RuleId::Perturbed)
            }
            _ if stays => Verdict::OPEN,
            _ if waits && self.view.flow.inputs.precedes_a_line(stack) => self.input(id),
            _ if self.view.is_given_back_by_backward(id) => Verdict::new(Category::Activation, RuleId::Loss),
            (None, _) => Verdict::new(Category::Other, RuleId::KeptOutside),
            (Some(gone), Some(call)) if call.start < gone.0 => {
                Verdict::new(Category::Other, RuleId::KeptOutside)
            }
            (Some(_), _) => Verdict::new(Category::Temporary, RuleId::BetweenSteps),
        }
    }
}
