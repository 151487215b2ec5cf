//! Evaluation that keeps a graph, or runs while the graph of the training is still there.

use super::place::{places, sum};
use crate::assessment::Assessment;
use crate::case::Case;
use crate::figure;
use crate::finding::{Finding, Role};
use crate::findings::FindingId;
use crate::inferred::amount;
use crate::sentence::say;
use oomscope_analysis::{Category, FrameKey, ModelCall, Phase, Phases};
use oomscope_model::{AllocId, Allocation, Bytes, EventIx, Moment};
use oomscope_program::numbers::MANY;
use oomscope_program::share::{MUCH, WORTH};
use std::collections::BTreeSet;

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    // What is left of an attempt that failed is the verdict, and no evaluation's.
    let resident = if assessment.is_leak() { None } else { resident(case) };
    running(case).or_else(|| evaluation(case)).into_iter().chain(resident).collect()
}

/// A graph that the call of a model keeps which runs at the moment, although no backward pass will follow.
fn running(case: &Case<'_>) -> Option<Finding> {
    let timeline = case.recording.timeline();
    let before = |call: &&ModelCall| Moment::after(call.event) <= case.moment;
    let call = case.phases().calls.iter().rfind(before).filter(|call| !call.trains)?;
    if case.phases().phase_at(case.moment) != Phase::Eval {
        return None;
    }
    let is_passing = |id: &AllocId| {
        matches!(case.category(*id), Category::Activation | Category::Temporary | Category::Other)
            && !timeline.lifetimes.is_fleeting(*id)
    };
    let made = timeline.lifetimes.started_between(Moment(call.event.0), case.moment);
    let made: Vec<AllocId> = made.filter(is_passing).collect();
    let run = &case.workload.computation.run;
    let without_gradients = run.stacks_with(|code| code.runs_without_gradients());
    if made.iter().all(|&id| without_gradients.has(timeline.stack(id))) {
        return None;
    }
    // Without a graph, hardly any block of the first half outlives it; those of the second half may be in use.
    let early = made.len() / 2;
    let is_kept = |id: &&AllocId| timeline.gone(**id).is_none_or(|gone| case.moment < gone);
    let kept = made.iter().take(early).filter(is_kept).count();
    let held = case.live_of(Category::Activation).filter(|a| Some(call.event) <= a.alloc_event());
    let held: Vec<&Allocation> = held.collect();
    let bytes = sum(&held);
    if made.len() < MANY || !MUCH.is_reached(kept, early) || !MUCH.is_reached(bytes, case.live_bytes()) {
        return None;
    }
    let title = say!(
        "An evaluation keeps {} for a backward pass that never comes",
        figure::bytes(bytes).of(case.live_bytes())
    );
    let mut finding = Finding::new(FindingId::EvaluationGraph, case.severity_of(bytes / 2), title);
    finding.explain(say!("Of the first {} that this call of the model made, {} are still there. Without gradients, each is freed as soon as the next layer has used it.", figure::counted(early, "block"), figure::count(kept).of_count(early)));
    finding.evidence.part("evaluation_bytes", "made in this call and still held", bytes, case.live_bytes());
    places(&mut finding, case, &held);
    finding.advise_code("Evaluate without gradients:", "with torch.no_grad():   # or torch.inference_mode()");
    finding.weighs(bytes / 2);
    finding.limit("Evaluation is told from training by what follows, or followed such calls before: no backward pass, no step.");
    Some(finding)
}

/// A graph that the last evaluation kept.
fn evaluation(case: &Case<'_>) -> Option<Finding> {
    let timeline = case.recording.timeline();
    let (start, end) = last_evaluation(case)?;
    let is_made =
        |&id: &AllocId| start < timeline.lifetimes.start(id) && case.category(id) == Category::Activation;
    let made = timeline.lifetimes.live_at(end).filter(is_made);
    let stacks = case.stacks_of(made);
    let lines: BTreeSet<FrameKey> =
        stacks.iter().filter_map(|row| case.code.own_path(row.stack).first().copied()).collect();
    let bytes = stacks.iter().map(|row| row.bytes).sum::<Bytes>();
    let peak = timeline.active.peak().1;
    if lines.len() < MANY || !WORTH.is_reached(bytes, peak) {
        return None;
    }
    let title =
        say!("Evaluation keeps {} for a backward pass that never comes", figure::bytes(bytes).of(peak));
    let mut finding = Finding::new(FindingId::EvaluationGraph, case.severity_of(bytes), title);
    finding.explain(say!("After an evaluation, results of {} different lines of the model were still there. Without gradients each is freed as soon as the next layer has used it.", figure::count(lines.len())));
    finding.evidence.bytes("evaluation_bytes", "made in the evaluation and held after it", bytes);
    finding.evidence.count("lines", "lines that made them", lines.len());
    finding.evidence.events.extend(end.event());
    finding.evidence.sites = case.code.sites(&stacks, Role::Live).into_iter().take(6).collect();
    finding.evidence.stacks = stacks.into_iter().take(2).collect();
    finding.advise_code("Evaluate without gradients:", "with torch.no_grad():   # or torch.inference_mode()");
    finding.weighs(bytes);
    finding.limit("Evaluation is told from training by what follows: no backward pass, no step.");
    Some(finding)
}

/// Activations and gradients of the training that are held while an evaluation runs.
fn resident(case: &Case<'_>) -> Option<Finding> {
    let phases = case.phases();
    if phases.phase_at(case.moment) != Phase::Eval || !case.trains() {
        return None;
    }
    let since = case.starts_of(Phase::Eval).next_back()?;
    if is_part_of_step(phases, since) {
        return None;
    }
    // An evaluation that loads data in between is several phases.
    let is_older = |id: AllocId| {
        let start = case.recording.lifetimes.start(id);
        start <= Moment(since.0) && phases.phase_at(start) != Phase::Eval
    };
    let of = |category| case.live_of(category).filter(|a| is_older(a.id)).collect::<Vec<_>>();
    let (activations, gradients) = (of(Category::Activation), of(Category::Gradient));
    let bytes = sum(&activations) + sum(&gradients);
    if !WORTH.is_reached(bytes, case.live_bytes()) {
        return None;
    }
    let inferred = case.inferred_bytes(activations.iter().chain(&gradients).copied());
    let title = say!(
        "{} of the training are held while an evaluation runs",
        amount(bytes, inferred).of(case.live_bytes())
    );
    let mut finding = Finding::new(FindingId::TrainingResident, case.severity_of(bytes), title);
    finding.explain("Activations and gradients of the last training step are of no use in the evaluation, and its memory comes on top of them.");
    finding.evidence.bytes("activation_bytes", "activations from before the evaluation", sum(&activations));
    finding.evidence.bytes("gradient_bytes", "gradients from before the evaluation", sum(&gradients));
    finding.limit_inferred("activations and gradients", bytes, inferred);
    finding.evidence.events.push(since);
    let stacks = case.stacks_of(activations.iter().chain(&gradients).map(|a| a.id));
    finding.evidence.sites = case.code.sites(&stacks, Role::Live).into_iter().take(6).collect();
    finding.evidence.stacks = stacks.into_iter().take(2).collect();
    finding.advise_code(
        "Let go of both before evaluating:",
        "del loss, outputs\noptimizer.zero_grad(set_to_none=True)",
    );
    finding.weighs(bytes);
    finding.limit("What the evaluation itself needs of them, as a distillation would, is not known.");
    Some(finding)
}

/// Whether the pass without gradients at an event belongs to the training step, as that of a second encoder or a teacher
/// does: such a pass came between a forward pass and its backward pass before.
fn is_part_of_step(phases: &Phases, event: EventIx) -> bool {
    let list = &phases.phases;
    let phase = |at: usize| list.get(at).map(|start| start.phase);
    let follows_forward = |at: usize| at.checked_sub(1).and_then(phase) == Some(Phase::Forward);
    let comes_to_backward = |at: usize| {
        let mut next = list.iter().skip(at + 1).map(|start| start.phase);
        next.find(|&phase| phase != Phase::Forward && phase != Phase::Eval) == Some(Phase::Backward)
    };
    let at = list.partition_point(|start| start.event < event);
    let is_evaluation = |&at: &usize| phase(at) == Some(Phase::Eval);
    follows_forward(at)
        && (0..at).filter(is_evaluation).any(|at| follows_forward(at) && comes_to_backward(at))
}

/// The moments before and after the last evaluation that is over.
fn last_evaluation(case: &Case<'_>) -> Option<(Moment, Moment)> {
    let phases = &case.phases().phases;
    let ends = phases.iter().skip(1).map(|next| Moment(next.event.0));
    let mut over =
        phases.iter().zip(ends).filter(|(phase, end)| phase.phase == Phase::Eval && *end <= case.moment);
    over.next_back().map(|(phase, end)| (Moment(phase.event.0), end))
}
