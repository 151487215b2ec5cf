//! Allocations whose stack says what they are for, by itself or with others of the same line.

use super::kept_per_layer;
use crate::attribution::RuleId;
use crate::attribution::claims::{Claims, Verdict};
use crate::attribution::facts::{Activity, CodePart, StackFacts, StackTrait};
use crate::attribution::view::View;
use foldhash::{HashMap, HashSet};
use oomscope_model::{AllocId, EventIx, StackId};

/// Claim what stacks say; and that an allocation lies in a private pool if its stack leaves that open.
pub(super) fn claim(view: &View<'_>, claims: &mut Claims) {
    let habits = Habits::of(view);
    for id in view.ids() {
        if !claims.wants_claims_for(id) {
            continue;
        }
        if let Some(verdict) = verdict(view, &habits, id) {
            claims.claim(id, verdict);
        }
        if view.has_private_pools && claims.wants_claims_for(id) && view.is_in_private_pool(id) {
            claims.claim(id, RuleId::PrivatePool.verdict());
        }
    }
}

fn verdict(view: &View<'_>, habits: &Habits, id: AllocId) -> Option<Verdict> {
    let stack = view.stack(id);
    let facts = view.facts_of(stack);
    let rule = match facts.part {
        CodePart::FlatBuffer if habits.last_buffer_lines.contains(&stack) => RuleId::GradientCode,
        CodePart::Load | CodePart::FlatBuffer => RuleId::ModuleLoad,
        CodePart::Call => return Some(in_call(view, habits, id, stack, facts)),
        CodePart::Backward => RuleId::Autograd,
        CodePart::Recompute => RuleId::Recomputed,
        CodePart::State | CodePart::Foreach | CodePart::Step => {
            return Some(in_step(view, habits, id, stack, facts.part));
        }
        CodePart::MainParameters => RuleId::StateSetup,
        CodePart::GradientCopy => RuleId::GradientCode,
        CodePart::Comm => RuleId::CommCode,
        CodePart::Data => RuleId::BatchCode,
        CodePart::Workspace => RuleId::WorkspaceCode,
        // The autograd engine's threads run no Python: where others have stacks, it has none.
        CodePart::Nothing if is_made_in_backward(view, id) => RuleId::NoPython,
        CodePart::Nothing
        | CodePart::Main
        | CodePart::Restore
        | CodePart::BetweenSteps
        | CodePart::ZeroGrad => return None,
    };
    Some(rule.verdict())
}

fn is_made_in_backward(view: &View<'_>, id: AllocId) -> bool {
    let made = view.alloc_event(id);
    made.is_some_and(|made| view.device.activities.at(made.0) == Activity::Backward)
}

fn in_call(view: &View<'_>, habits: &Habits, id: AllocId, stack: StackId, facts: StackFacts) -> Verdict {
    let call = view.alloc_event(id).and_then(|made| view.device.call_at(made.0));
    let trains = call.is_some_and(|call| call.trains);
    if !trains && facts.has(StackTrait::InCache) {
        return RuleId::CacheCode.verdict();
    }
    if !trains && habits.kept_per_layer.contains(&stack) {
        return RuleId::KeptPerLayer.verdict();
    }
    let rule = if facts.has(StackTrait::InOwnModel) { RuleId::FunctionalCode } else { RuleId::ModuleCall };
    rule.verdict()
}

fn in_step(view: &View<'_>, habits: &Habits, id: AllocId, stack: StackId, part: CodePart) -> Verdict {
    let rule = if part == CodePart::State { RuleId::StateSetup } else { RuleId::KeptAfterStep };
    let kept = rule.verdict();
    let Some(made) = view.alloc_event(id) else { return kept };
    let end = view.device.step_spans.end_after(made.0);
    let is_unfinished = || view.device.step_spans.unfinished().is_some_and(|step| step.1 == end);
    match view.free_event(id) {
        Some(freed) if freed.0 < end => RuleId::GoneWithStep.verdict(),
        None if part != CodePart::State && is_unfinished() => habits.in_unfinished_step(stack, part),
        _ => kept,
    }
}

/// The fate of the allocations of a stack in steps.
#[derive(Debug, Clone, Copy, Default)]
struct StepFate {
    /// How many were freed before the step was over.
    freed: u32,
    /// How many stayed.
    kept: u32,
}

/// The habits of stacks, where those decide.
#[derive(Default)]
struct Habits {
    /// Whether the step that the trace ends in ran out of memory.
    is_step_cut: bool,
    in_steps: HashMap<StackId, StepFate>,
    /// Stacks that make buffers of gradients: the last that a function makes is theirs, and those before are of parameters.
    last_buffer_lines: HashSet<StackId>,
    /// Stacks of keys and values.
    kept_per_layer: HashSet<StackId>,
}

impl Habits {
    fn of(view: &View<'_>) -> Self {
        let mut out = Self {
            is_step_cut: view.device.step_spans.is_cut(&view.timeline.ooms),
            kept_per_layer: kept_per_layer::stacks(view),
            last_buffer_lines: last_buffer_lines(view),
            ..Self::default()
        };
        for (id, made) in view.new_ids() {
            if view.device.activities.at(made.0) == Activity::Step {
                out.note_in_step(view, id, made);
            }
        }
        out
    }

    fn note_in_step(&mut self, view: &View<'_>, id: AllocId, made: EventIx) {
        let end = view.device.step_spans.end_after(made.0);
        let fate = self.in_steps.entry(view.timeline.events.stack(made)).or_default();
        if view.is_live_until(id, end) { fate.kept += 1 } else { fate.freed += 1 }
    }

    /// The verdict on a block that is live at the end of a trace that ends within a step.
    fn in_unfinished_step(&self, stack: StackId, part: CodePart) -> Verdict {
        let StepFate { freed, kept } = self.in_steps.get(&stack).copied().unwrap_or_default();
        let is_temporary = match part {
            // The end of the recording may have come at any point of the step.
            _ if !self.is_step_cut => false,
            CodePart::Foreach => true,
            // The block itself is the one that was kept.
            _ => kept <= freed || kept == 1,
        };
        if is_temporary {
            RuleId::UnfinishedStepDrops.verdict()
        } else {
            RuleId::UnfinishedStepKeeps.verdict()
        }
    }
}

/// Of each function that makes flat buffers for the same caller, the stack of what it made last.
fn last_buffer_lines(view: &View<'_>) -> HashSet<StackId> {
    let mut last: HashMap<u32, StackId> = HashMap::default();
    for id in view.ids() {
        let stack = view.stack(id);
        let facts = view.facts_of(stack);
        if facts.part == CodePart::FlatBuffer {
            last.insert(facts.calling_code, stack);
        }
    }
    last.into_values().collect()
}
