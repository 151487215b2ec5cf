//! What a stack says by itself, and what other allocations of the same line say of it.

use super::kept_per_layer;
use super::{Category, Claims, RuleId, Verdict, View};
use crate::analysis::attribution::facts::{Act, Part, Place};
use crate::model::{AllocId, EventIx, StackId};
use foldhash::{HashMap, HashSet};

/// Claim what stacks say, and of what they leave open, that it lies in a private pool.
pub(super) fn find(view: &View<'_>, claims: &mut Claims) {
    let habits = Habits::of(view);
    for id in view.ids() {
        if !claims.asks(id) {
            continue;
        }
        if let Some(verdict) = verdict(view, &habits, id) {
            claims.claim(id, verdict);
        }
        if view.has_private_pools && claims.asks(id) && view.is_in_private_pool(id) {
            claims.claim(id, Verdict::new(Category::GraphPool, RuleId::PrivatePool));
        }
    }
}

fn verdict(view: &View<'_>, habits: &Habits, id: AllocId) -> Option<Verdict> {
    let stack = view.stack(id);
    let place = view.places.get(stack);
    let (category, rule) = match place.part {
        Part::Load => (Category::Parameter, RuleId::ModuleLoad),
        Part::Call => return Some(in_call(view, habits, id, stack, place)),
        Part::Backward => (Category::Gradient, RuleId::Autograd),
        Part::Recompute => (Category::Activation, RuleId::Recomputed),
        Part::State | Part::Foreach | Part::Step => {
            return Some(in_step(view, habits, id, stack, place.part));
        }
        Part::Comm => (Category::Comm, RuleId::CommCode),
        Part::Data => (Category::Input, RuleId::BatchCode),
        Part::Workspace => (Category::Temporary, RuleId::WorkspaceCode),
        // The autograd engine's threads run no Python: where others have stacks, it has none.
        Part::Nothing if is_in_backward(view, id) => (Category::Gradient, RuleId::NoPython),
        Part::Nothing | Part::Main | Part::Restore | Part::BetweenSteps | Part::ZeroGrad => return None,
    };
    Some(Verdict::new(category, rule))
}

fn is_in_backward(view: &View<'_>, id: AllocId) -> bool {
    let event = view.timeline.lifetimes.start(id).event();
    event.is_some_and(|event| view.flow.acts.at(event.0) == Act::Backward)
}

fn in_call(view: &View<'_>, habits: &Habits, id: AllocId, stack: StackId, place: Place) -> Verdict {
    let event = view.timeline.lifetimes.start(id).event();
    let trains = event.and_then(|event| view.flow.call_at(event.0)).is_some_and(|call| call.trains);
    if !trains && place.in_cache {
        return Verdict::new(Category::KvCache, RuleId::CacheCode);
    }
    if !trains && habits.kept_per_layer.contains(&stack) {
        return Verdict::new(Category::KvCache, RuleId::KeptPerLayer);
    }
    Verdict::new(Category::Activation, RuleId::ModuleCall)
}

fn in_step(view: &View<'_>, habits: &Habits, id: AllocId, stack: StackId, part: Part) -> Verdict {
    let kept = if part == Part::State { RuleId::StateSetup } else { RuleId::KeptAfterStep };
    let kept = Verdict::new(Category::OptimizerState, kept);
    let Some(start) = view.timeline.lifetimes.start(id).event() else { return kept };
    let end = view.flow.step_spans.end_after(start.0);
    match view.gone(id) {
        Some(gone) if gone.0 < end => Verdict::new(Category::Temporary, RuleId::GoneWithStep),
        None if part != Part::State
            && view.flow.step_spans.unfinished().is_some_and(|step| step.1 == end) =>
        {
            habits.in_last_step(stack, part)
        }
        _ => kept,
    }
}

/// What the allocations of a stack did, where that decides.
#[derive(Default)]
struct Habits {
    /// Whether the step that the trace ends in ran out of memory.
    is_cut: bool,
    /// Of allocations in steps: how many were gone before the step was over, and how many stayed.
    in_steps: HashMap<StackId, (u32, u32)>,
    /// Stacks of keys and values.
    kept_per_layer: HashSet<StackId>,
}

impl Habits {
    fn of(view: &View<'_>) -> Self {
        let unfinished = view.flow.step_spans.unfinished();
        let last_oom = view.timeline.ooms.last();
        let is_cut = unfinished.zip(last_oom).is_some_and(|(step, oom)| step.0 <= oom.event.0);
        let mut out = Self { is_cut, kept_per_layer: kept_per_layer::stacks(view), ..Self::default() };
        for id in view.ids().skip(view.timeline.lifetimes.initial_count()) {
            let Some(start) = view.timeline.lifetimes.start(id).event() else { continue };
            if view.flow.acts.at(start.0) == Act::Step {
                out.add_in_step(view, id, start);
            }
        }
        out
    }

    fn add_in_step(&mut self, view: &View<'_>, id: AllocId, start: EventIx) {
        let end = view.flow.step_spans.end_after(start.0);
        let stays = view.gone(id).is_none_or(|gone| end <= gone.0);
        let count = self.in_steps.entry(view.timeline.events.stack(start)).or_default();
        if stays { count.1 += 1 } else { count.0 += 1 }
    }

    /// Live at the end of a trace that ends within a step.
    fn in_last_step(&self, stack: StackId, part: Part) -> Verdict {
        let (gone, stayed) = self.in_steps.get(&stack).copied().unwrap_or_default();
        let is_temporary = match part {
            _ if !self.is_cut => false,
            Part::Foreach => true,
            _ => stayed <= gone || stayed == 1,
        };
        if is_temporary {
            Verdict::new(Category::Temporary, RuleId::UnfinishedStepDrops)
        } else {
            Verdict::new(Category::OptimizerState, RuleId::UnfinishedStepKeeps)
        }
    }
}
