//! Gradients that are held while nothing needs them.

use super::place::{places, sum};
use crate::assessment::Assessment;
use crate::case::Case;
use crate::figure;
use crate::finding::{Finding, Severity};
use crate::findings::FindingId;
use crate::inferred::amount;
use crate::sentence::say;
use oomscope_analysis::{Category, Phase};
use oomscope_model::{Allocation, EventIx};
use oomscope_program::share::NOTABLE;

/// Finished gradients that are still there after the next forward pass has begun.
pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let phase = case.phases().phase_at(case.moment);
    if !matches!(phase, Phase::Forward | Phase::Eval | Phase::Data) {
        return Vec::new();
    }
    let live = assessment.in_use(Category::Gradient);
    let step = case.starts_of(Phase::Optimizer).next_back();
    let old: Vec<&Allocation> = live.iter().copied().filter(|a| is_older(a, step)).collect();
    let is_worth = |live: &[&Allocation]| NOTABLE.is_reached(sum(live), case.live_bytes());
    if is_worth(&old) {
        return vec![outlive_the_step(case, &old)];
    }
    is_worth(&live).then(|| wait(case, &live, phase)).into_iter().collect()
}

/// The most backward passes that came before one step until the moment, if each step has several: gradients add up on purpose.
fn accumulated(case: &Case<'_>) -> Option<usize> {
    let phases = case.phases().phases.iter().take_while(|start| start.event.0 < case.moment.0);
    let (mut backwards, mut of_steps) = (0, Vec::new());
    for start in phases {
        match start.phase {
            Phase::Backward => backwards += 1,
            Phase::Optimizer => of_steps.push(std::mem::take(&mut backwards)),
            _ => {}
        }
    }
    of_steps.retain(|&backwards| backwards != 0);
    of_steps.iter().all(|&backwards| 1 < backwards).then(|| of_steps.into_iter().max()).flatten()
}

/// Whether a gradient was made before an event.
fn is_older(a: &Allocation, event: Option<EventIx>) -> bool {
    event.is_some_and(|event| a.alloc_event().is_none_or(|made| made < event))
}

/// Code that frees gradients after a step.
const FREE: &str = "optimizer.step()\noptimizer.zero_grad(set_to_none=True)";

/// Gradients that the step has used.
fn outlive_the_step(case: &Case<'_>, old: &[&Allocation]) -> Finding {
    let bytes = sum(old);
    let inferred = case.inferred_bytes(old.iter().copied());
    let backward = case.starts_of(Phase::Backward).next_back();
    let is_never_freed = old.iter().all(|a| is_older(a, backward));
    let held = amount(bytes, inferred).of(case.live_bytes());
    let title = say!("{} of gradients outlive the optimizer's step", held);
    let mut finding = Finding::new(FindingId::GradientsNotZeroed, case.severity_of(bytes), title);
    if is_never_freed {
        finding.explain("They are older than the last backward pass, which only added to them: nothing sets them to None, since zero_grad() is never called or is told to write zeros.");
        finding.advise_code("Free them after each step:", FREE);
        finding.limit("If gradients are meant to add up over several steps of an optimizer, they must stay.");
    } else {
        finding.explain("The step has used them, but they stay through the next forward pass, whose activations come on top: zero_grad() is called only before the next backward pass.");
        finding.advise_code("Free them right after the step:", FREE);
    }
    finding.evidence.part("gradient_bytes", "gradients", bytes, case.live_bytes());
    places(&mut finding, case, old);
    finding.limit_inferred("gradients", bytes, inferred);
    finding.weighs(bytes);
    finding
}

/// Gradients that wait for a step which has not come.
fn wait(case: &Case<'_>, live: &[&Allocation], phase: Phase) -> Finding {
    let bytes = sum(live);
    let during = if phase == Phase::Eval { "evaluation" } else { "the forward pass" };
    let inferred = case.inferred_bytes(live.iter().copied());
    let held = amount(bytes, inferred).of(case.live_bytes());
    let title = say!("{} of gradients are held during {}", held, during);
    let mut finding = Finding::new(FindingId::GradientsKept, case.severity_of(bytes), title);
    finding.evidence.part("gradient_bytes", "gradients", bytes, case.live_bytes());
    places(&mut finding, case, live);
    finding.limit_inferred("gradients", bytes, inferred);
    if let Some(backwards) = accumulated(case) {
        finding.severity = Severity::Info;
        finding.explain(say!("Up to {} backward passes come before each step, so gradients add up on purpose and are needed until then.", figure::count(backwards)));
        return finding;
    }
    finding.explain("They are needed from the backward pass to the step. Between, they only serve to accumulate several batches.");
    finding.advise_code(
        "Unless gradients are accumulated on purpose, free them after each step:",
        "optimizer.zero_grad(set_to_none=True)",
    );
    finding.weighs(bytes);
    finding.limit("Whether gradients are accumulated on purpose is not recorded.");
    finding
}
