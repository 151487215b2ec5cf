//! Allocations outside of models, optimizers and autograd.

use super::weight_code::WeightCode;
use crate::attribution::claims::{Claims, Verdict};
use crate::attribution::facts::{CodePart, StackTrait};
use crate::attribution::structure::Phase;
use crate::attribution::view::View;
use crate::attribution::{Category, RuleId};
use oomscope_model::{AllocId, EventIx, Moment, StackId};

/// Claim what the program's own code makes.
pub(super) fn claim(view: &View<'_>, claims: &mut Claims) {
    let main_code = MainCode::new(view, claims);
    for id in view.ids().filter(|&id| claims.wants_claims_for(id)).collect::<Vec<_>>() {
        let stack = view.stack(id);
        let part = view.facts_of(stack).part;
        let is_own =
            matches!(part, CodePart::Main | CodePart::Restore | CodePart::BetweenSteps | CodePart::ZeroGrad);
        if is_own && !(part == CodePart::Main && view.stacks.is_compiled) {
            claims.claim(id, main_code.verdict(id, stack, part));
        }
    }
}

/// Judges allocations by phase, lifetime, and the habits of their stacks.
struct MainCode<'a> {
    view: &'a View<'a>,
    /// The functions that make weights.
    weights: WeightCode,
    /// Whether anything is trained.
    trains: bool,
    /// Whether it is known what models are, so that what is outside of them is known, too.
    knows_models: bool,
}

impl<'a> MainCode<'a> {
    fn new(view: &'a View<'a>, claims: &Claims) -> Self {
        let knows_models = view.stacks.show_torch();
        Self { view, weights: WeightCode::of(view, claims), trains: view.device.has_backward(), knows_models }
    }

    fn verdict(&self, id: AllocId, stack: StackId, part: CodePart) -> Verdict {
        let Some(made) = self.view.alloc_event(id) else {
            return self.before_recording(stack);
        };
        if !self.trains && self.view.facts_of(stack).has(StackTrait::InCache) {
            return RuleId::CacheCode.verdict();
        }
        if self.weights.makes(self.view, id, self.view.facts_of(stack)) {
            return RuleId::WeightCode.verdict();
        }
        match self.view.course.of_event_before(Moment::after(made)) {
            Phase::Forward if self.is_left_behind(id, made) => Verdict::OPEN,
            Phase::Forward => RuleId::Loss.verdict(),
            Phase::Eval => self.after_eval(id, stack, made),
            _ if self.is_input(id, stack, made) && !self.perturbs(stack) => self.input(id),
            Phase::Init | Phase::Data | Phase::Unknown if !self.view.device.calls.is_empty() => {
                self.before_call(id, stack, made, part)
            }
            _ if self.view.device.calls.is_empty() => self.without_calls(id, stack),
            _ => self.between_steps(id, stack, made),
        }
    }

    /// The verdict in a program that calls no model, as far as its stacks show.
    fn without_calls(&self, id: AllocId, stack: StackId) -> Verdict {
        if self.view.is_freed_by_backward(id) {
            RuleId::GoneInBackward.verdict()
        } else if self.view.free_event(id).is_some() {
            RuleId::BetweenSteps.verdict()
        } else if self.view.facts_of(stack).has(StackTrait::InFunctional) {
            RuleId::FunctionalCode.verdict()
        } else {
            Verdict::OPEN
        }
    }

    /// The verdict on an allocation that is older than the recording: only its stack is known. A program that works
    /// without modules of torch makes its weights itself.
    fn before_recording(&self, stack: StackId) -> Verdict {
        let facts = self.view.facts_of(stack);
        let inits_weights = facts.has(StackTrait::InitsWeights);
        match self.knows_models {
            _ if facts.has(StackTrait::InFunctional) => RuleId::FunctionalCode.verdict(),
            _ if inits_weights => RuleId::WeightCode.verdict(),
            // An `__init__` may make data or weights.
            true if facts.has(StackTrait::InInit) => RuleId::StackOnly.verdict(),
            true => RuleId::KeptBeforeCalls.verdict(),
            false if self.weights.is_named(facts) => RuleId::WeightCode.verdict(),
            false => RuleId::StackOnly.verdict(),
        }
    }

    fn perturbs(&self, stack: StackId) -> bool {
        self.view.facts_of(stack).has(StackTrait::Perturbs)
    }

    /// Whether an allocation is live when the next call starts, and made by code whose allocations are usually freed soon
    /// after.
    fn is_input(&self, id: AllocId, stack: StackId, made: EventIx) -> bool {
        self.view.device.inputs.makes_inputs(stack) == Some(true)
            && self
                .view
                .device
                .next_call(made.0)
                .is_none_or(|call| self.view.is_live_until(id, call.start + 1))
    }

    /// The verdict on an input. If it is still there at the end, only other blocks of its line show that it is one.
    fn input(&self, id: AllocId) -> Verdict {
        let rule = match self.view.free_event(id) {
            Some(_) => RuleId::InputOfCall,
            None => RuleId::InputLikeOthers,
        };
        rule.verdict()
    }

    /// Whether an allocation stays unused although the program went on to call the model again: then it is for no backward.
    fn is_left_behind(&self, id: AllocId, made: EventIx) -> bool {
        let calls = &self.view.device.calls;
        let call = calls.partition_point(|call| call.start <= made.0).checked_sub(1);
        !self.trains
            && self.view.free_event(id).is_none()
            && call.is_some_and(|call| self.view.device.inputs.is_called_again(call))
    }

    fn after_eval(&self, id: AllocId, stack: StackId, made: EventIx) -> Verdict {
        let calls = &self.view.device.calls;
        let after = calls.partition_point(|call| call.start <= made.0);
        let call = after.checked_sub(1).and_then(|at| calls.get(at));
        if self.is_input(id, stack, made) {
            self.input(id)
        } else if call.is_some_and(|call| call.keeps_a_graph()) {
            Verdict::new(Category::Activation, RuleId::Result)
        } else {
            RuleId::Result.verdict()
        }
    }

    /// The verdict on an allocation before the first call, or while data is loaded.
    fn before_call(&self, id: AllocId, stack: StackId, made: EventIx, part: CodePart) -> Verdict {
        let next = self.view.device.next_call(made.0);
        let freed = self.view.free_event(id);
        if self.view.is_freed_by_backward(id) {
            RuleId::Loss.verdict()
        } else if next.is_some_and(|call| freed.is_some_and(|freed| freed.0 < call.start)) {
            RuleId::BetweenSteps.verdict()
        } else if self.view.device.inputs.never_frees(stack)
            || part == CodePart::Restore
            || !self.view.stacks.call_modules()
        {
            Verdict::OPEN
        } else {
            RuleId::KeptBeforeCalls.verdict()
        }
    }

    fn between_steps(&self, id: AllocId, stack: StackId, made: EventIx) -> Verdict {
        let next = self.view.device.next_call(made.0);
        let freed = self.view.free_event(id);
        let outlives_next = next.is_some_and(|call| self.view.is_live_until(id, call.start + 1));
        let inputs = &self.view.device.inputs;
        if (outlives_next || freed.is_none()) && self.perturbs(stack) {
            RuleId::Perturbed.verdict()
        } else if inputs.never_frees(stack) {
            Verdict::OPEN
        } else if outlives_next && inputs.precedes_first_by_line(stack) {
            self.input(id)
        } else if self.view.is_freed_by_backward(id) {
            RuleId::Loss.verdict()
        } else if freed.is_none() || outlives_next {
            RuleId::KeptOutside.verdict()
        } else {
            RuleId::BetweenSteps.verdict()
        }
    }
}
