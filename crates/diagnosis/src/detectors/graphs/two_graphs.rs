//! Two graphs at once, of which one may be over.

use super::graph::{Graph, finished_backwards};
use crate::case::{Among, Case, add_sites, by_stack, leading};
use crate::detectors::place::{places, sum};
use crate::figure;
use crate::finding::{Finding, MAX_SITES, Role, Severity};
use crate::findings::FindingId;
use crate::sentence::say;
use oomscope_analysis::{Category, Phase};
use oomscope_model::{Allocation, Bytes, EventIx, StackId};
use oomscope_program::numbers::SEVERAL;
use oomscope_program::share::{MUCH, NEARLY_ALL, WORTH};

/// Two or more large graphs, as of a teacher and a student, or of this iteration and the one before.
pub(super) fn two_graphs(case: &Case<'_>, graphs: &[Graph<'_>]) -> Option<Finding> {
    let all = graphs.iter().map(|graph| graph.bytes).sum::<Bytes>();
    let large: Vec<&Graph<'_>> = graphs.iter().filter(|graph| WORTH.is_reached(graph.bytes, all)).collect();
    let blocks: Vec<&Allocation> = large.iter().flat_map(|graph| graph.blocks.iter().copied()).collect();
    let bytes = sum(&blocks);
    if large.len() < 2 || !MUCH.is_reached(bytes, case.live_bytes()) {
        return None;
    }
    let last = finished_backwards(case).last().copied();
    let is_over = |graph: &&&Graph<'_>| graph.began(case) < last.or(Some(EventIx(0)));
    let over: Vec<&Allocation> =
        large.iter().filter(is_over).flat_map(|graph| graph.blocks.iter().copied()).collect();
    let title = say!(
        "The graphs of {} of models are alive at once and hold {}",
        figure::counted(large.len(), "call"),
        figure::bytes(bytes).of(case.live_bytes())
    );
    let mut finding = Finding::new(FindingId::TwoGraphs, Severity::Info, title);
    finding.evidence.part("graph_bytes", "activations of these calls", bytes, case.live_bytes());
    finding.evidence.count("graphs", "calls that hold a graph", large.len());
    if over.is_empty() {
        places(&mut finding, case, &blocks);
        let smallest = large.iter().map(|graph| graph.bytes).min().unwrap_or_default();
        explain_together(&mut finding, case, smallest);
    } else {
        // Of an older graph no line is known: those of the call that made one like it are as good.
        let has_lines = over.iter().any(|a| a.stack != StackId::EMPTY);
        places(&mut finding, case, if has_lines { &over } else { &blocks });
        result_line(&mut finding, case, if has_lines { &over } else { &blocks });
        explain_over(&mut finding, case, sum(&over), bytes);
    }
    finding.limit("Which of these calls the next backward pass will use is not in the recording.");
    Some(finding)
}

/// Graphs that wait for a backward pass together.
fn explain_together(finding: &mut Finding, case: &Case<'_>, smallest: Bytes) {
    finding.explain("They wait for a backward pass together, so their activations add up: parts of one model, several losses, or a teacher beside a student.");
    let unused = gradients_without_step(case);
    if unused == 0 {
        finding.advise("Where they belong to several losses, run the backward pass of each as soon as it is there: gradients add up, and its graph is freed. What needs no gradients belongs below torch.no_grad().");
        return;
    }
    finding.severity = case.severity_of(smallest);
    finding.explain(say!("{} of gradients outlived a step and a backward pass, while others were freed: they belong to parameters that this step does not change, such as those of a teacher.", figure::bytes(unused).of(case.live_bytes())));
    finding.advise_code(
        "Call what is not trained (a teacher, a target, a reference) without a graph:",
        "teacher.requires_grad_(False)\nwith torch.no_grad():\n    target = teacher(x)",
    );
    finding.weighs(smallest);
}

/// Name the line first that called for a graph: what it returned is what keeps it.
fn result_line(finding: &mut Finding, case: &Case<'_>, blocks: &[&Allocation]) {
    let stacks = by_stack(blocks.iter().map(|a| (a.stack, a.size)));
    let Some(caller) = leading(case, &stacks, Among::Live).into_iter().next() else { return };
    let sites = std::mem::take(&mut finding.evidence.sites);
    finding.evidence.sites.push(case.code.site(caller.key, caller.bytes, caller.count, Role::Live));
    add_sites(&mut finding.evidence.sites, sites, MAX_SITES);
}

/// A graph of an earlier call.
fn explain_over(finding: &mut Finding, case: &Case<'_>, over: Bytes, of: Bytes) {
    finding.severity = case.severity_of(over);
    let before = if finished_backwards(case).is_empty() { "this call" } else { "the last backward pass" };
    finding.explain(say!("{} of it are from before {}: an output or a loss of an earlier call is still referenced while the next is computed.", figure::bytes(over).of(of), before));
    finding.advise_code("Let go of the results before the next call:", "del output, loss");
    if !case.trains() {
        finding.advise_code(
            "No backward pass was recorded. For inference, make no graph:",
            "with torch.no_grad():   # or torch.inference_mode()",
        );
    }
    finding.weighs(over);
}

/// Bytes of gradients that are older than the last backward pass and the step before it, if they are few of all: those of
/// parameters that no step of this loop changes, so that nothing frees them.
fn gradients_without_step(case: &Case<'_>) -> Bytes {
    let Some(&backward) = finished_backwards(case).last() else { return Bytes::ZERO };
    let has_step = case.starts_of(Phase::Optimizer).any(|step| step < backward);
    let is_old = |a: &&Allocation| a.alloc_event().is_some_and(|event| event < backward);
    let old: Vec<&Allocation> = case.live_of(Category::Gradient).filter(is_old).collect();
    let bytes = sum(&old);
    let are_few = !NEARLY_ALL.is_reached(bytes, case.bytes_of(Category::Parameter));
    if has_step && SEVERAL <= old.len() && are_few { bytes } else { Bytes::ZERO }
}
