//! Graphs of several calls that are alive at once: more calls before one backward pass than usual, or two graphs of which one
//! may be over.

use super::place::{places, sum};
use crate::analysis::{Category, ModelCall, Phase};
use crate::diagnosis::assessment::Assessment;
use crate::diagnosis::case::Case;
use crate::diagnosis::figure;
use crate::diagnosis::finding::{Finding, Severity};
use crate::diagnosis::sentence::say;
use crate::model::{Allocation, EventIx, Moment, StackId};
use std::collections::BTreeMap;

/// A call holds a graph if it holds at least one in this many of the activations; with many calls, each holds less.
const GRAPH_PART: i64 = 8;

/// A call that holds fewer blocks may hold its results.
const MIN_BLOCKS: usize = 3;

/// Graphs are worth a finding if they hold at least one in this many of the live bytes.
const LIVE_PART: i64 = 4;

/// Fewer gradients may be there for another reason.
const MIN_GRADIENTS: usize = 3;

/// The live activations of one call of a model.
#[derive(Default)]
struct Graph<'a> {
    call: usize,
    blocks: Vec<&'a Allocation>,
    bytes: i64,
}

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    // Where the calls of many iterations are held, that is the verdict.
    if assessment.is_leak() || case.phases().phase_at(case.moment) == Phase::Eval {
        return Vec::new();
    }
    let graphs = graphs(assessment);
    more_calls(case, &graphs).or_else(|| two_graphs(case, &graphs)).into_iter().collect()
}

/// The calls that hold graphs, in their order.
fn graphs<'a>(assessment: &Assessment<'a>) -> Vec<Graph<'a>> {
    let calls = &assessment.case.phases().calls;
    let mut graphs: BTreeMap<usize, Graph<'_>> = BTreeMap::new();
    for a in assessment.in_use(Category::Activation) {
        let Some(event) = a.alloc_event() else { continue };
        let Some(call) = calls.partition_point(|call| call.event <= event).checked_sub(1) else { continue };
        let graph = graphs.entry(call).or_default();
        graph.call = call;
        graph.bytes = graph.bytes.saturating_add(a.size);
        graph.blocks.push(a);
    }
    // The last call may have been cut off early.
    let last = graphs.keys().next_back().copied();
    let is_graph = |graph: &Graph<'_>| MIN_BLOCKS <= graph.blocks.len() || Some(graph.call) == last;
    graphs.into_values().filter(is_graph).collect()
}

/// The first events of the backward passes before the moment, without the one that the moment lies in.
fn finished_backwards(case: &Case<'_>) -> Vec<EventIx> {
    let current = case.phases().backward_at(case.moment);
    let starts = case.phases().phases.iter().filter(|start| start.phase == Phase::Backward);
    let events = starts.map(|start| start.event);
    events.filter(|&event| event.0 < case.moment.0 && Some(event) != current).collect()
}

/// More calls than ever before wait for one backward pass.
fn more_calls(case: &Case<'_>, graphs: &[Graph<'_>]) -> Option<Finding> {
    let backwards = finished_backwards(case);
    let last = *backwards.last()?;
    let before = most_calls_of_a_backward(case, &backwards).filter(|&most| 0 < most)?;
    let calls = &case.phases().calls;
    let is_new = |graph: &&Graph<'_>| calls.get(graph.call).is_some_and(|call| last < call.event);
    let now: Vec<&Graph<'_>> = graphs.iter().filter(is_new).collect();
    let blocks: Vec<&Allocation> = now.iter().flat_map(|graph| graph.blocks.iter().copied()).collect();
    let bytes = sum(&blocks);
    if now.len() <= before || bytes < case.live_bytes() / LIVE_PART {
        return None;
    }
    let most = now.iter().map(|graph| graph.bytes).max().unwrap_or(0);
    let saved = bytes.saturating_sub(most.saturating_mul(before as i64)).max(0);
    let title = say!(
        "{} of the model wait for one backward pass and hold {}; before, it was at most {}",
        figure::counted(now.len(), "call"),
        figure::bytes(bytes).of(case.live_bytes()),
        figure::count(before)
    );
    let mut finding = Finding::new("calls-before-backward", case.severity_of(saved), title);
    finding.explain("Each call keeps its graph until its backward pass, so their activations add up. If a backward pass was left out, as for a loss that was skipped, the graph of that call stays until its output is replaced.");
    finding.evidence.part("graph_bytes", "activations of these calls", bytes, case.live_bytes());
    finding.evidence.count("calls", "calls since the last backward pass", now.len());
    finding.evidence.count("calls_before", "calls before one backward pass until then, at most", before);
    places(&mut finding, case, &blocks);
    if is_new_code(case, &now, last) {
        finding.explain("They were called from a line that no backward pass has followed yet: if it evaluates, the graphs are kept for nothing.");
        finding.advise_code(
            "Evaluate without gradients:",
            "with torch.no_grad():   # or torch.inference_mode()",
        );
    }
    finding.advise_code(
        "Run the backward pass after each call: gradients add up, and only one graph is alive:",
        "for part in parts:\n    (loss_of(model(part)) / len(parts)).backward()\noptimizer.step()",
    );
    finding
        .advise_code("Where a backward pass is skipped, let go of that call's results:", "del output, loss");
    finding.saves(saved, "activations of the calls beyond the earlier number");
    Some(finding)
}

/// Whether these calls were made by stacks that did not allocate before the last backward pass, so that none followed them.
fn is_new_code(case: &Case<'_>, graphs: &[&Graph<'_>], last: EventIx) -> bool {
    let timeline = case.timeline;
    let mut ran_before = vec![false; case.snapshot.stacks.len()];
    for id in timeline.ids().take_while(|&id| timeline.lifetimes.start(id) <= Moment(last.0)) {
        ran_before[timeline.stack(id).index()] = true;
    }
    let mut stacks = graphs.iter().flat_map(|graph| &graph.blocks).map(|a| a.stack);
    stacks.all(|stack| stack != StackId::EMPTY && !ran_before[stack.index()])
}

/// The most calls that came between the first call that trains after a backward pass and the next backward pass. Calls that
/// seem not to train may be parts of the same forward pass.
fn most_calls_of_a_backward(case: &Case<'_>, backwards: &[EventIx]) -> Option<usize> {
    let calls = &case.phases().calls;
    let between = |(at, &end): (usize, &EventIx)| {
        let start = at.checked_sub(1).and_then(|at| backwards.get(at));
        let is_between =
            |call: &&ModelCall| start.is_none_or(|start| *start < call.event) && call.event < end;
        let from = calls.partition_point(|call| start.is_some_and(|start| call.event <= *start));
        let calls = calls.get(from..).into_iter().flatten().take_while(is_between);
        calls.skip_while(|call| !call.trains).count()
    };
    backwards.iter().enumerate().map(between).max()
}

/// Two or more large graphs, as of a teacher and a student, or of this iteration and the one before.
fn two_graphs(case: &Case<'_>, graphs: &[Graph<'_>]) -> Option<Finding> {
    let all = graphs.iter().fold(0i64, |sum, graph| sum.saturating_add(graph.bytes));
    let large: Vec<&Graph<'_>> = graphs.iter().filter(|graph| all / GRAPH_PART <= graph.bytes).collect();
    let blocks: Vec<&Allocation> = large.iter().flat_map(|graph| graph.blocks.iter().copied()).collect();
    let bytes = sum(&blocks);
    if large.len() < 2 || bytes < case.live_bytes() / LIVE_PART {
        return None;
    }
    let calls = &case.phases().calls;
    let last = finished_backwards(case).last().copied();
    let is_over = |graph: &&&Graph<'_>| calls.get(graph.call).map(|call| call.event) < last;
    let over: Vec<&Allocation> =
        large.iter().filter(is_over).flat_map(|graph| graph.blocks.iter().copied()).collect();
    let title = say!(
        "The graphs of {} of models are alive at once and hold {}",
        figure::counted(large.len(), "call"),
        figure::bytes(bytes).of(case.live_bytes())
    );
    let mut finding = Finding::new("two-graphs", Severity::Info, title);
    finding.evidence.part("graph_bytes", "activations of these calls", bytes, case.live_bytes());
    finding.evidence.count("graphs", "calls that hold a graph", large.len());
    if over.is_empty() {
        places(&mut finding, case, &blocks);
        let smallest = large.iter().map(|graph| graph.bytes).min().unwrap_or(0);
        explain_together(&mut finding, case, smallest);
    } else {
        places(&mut finding, case, &over);
        explain_over(&mut finding, case, sum(&over), bytes);
    }
    finding.limit("Which of these calls the next backward pass will use is not in the recording.");
    Some(finding)
}

/// Graphs that wait for a backward pass together.
fn explain_together(finding: &mut Finding, case: &Case<'_>, smallest: i64) {
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
    finding.saves(smallest, "activations of the smallest of these graphs");
}

/// A graph of an earlier iteration.
fn explain_over(finding: &mut Finding, case: &Case<'_>, over: i64, of: i64) {
    finding.severity = case.severity_of(over);
    finding.explain(say!("{} of it are from before the last backward pass: an output or a loss of an earlier iteration is still referenced while the next is computed.", figure::bytes(over).of(of)));
    finding.advise_code("Let go of the results before the next call:", "del output, loss");
    finding.saves(over, "activations of calls from before the last backward pass");
}

/// Bytes of gradients that are older than the last backward pass and the step before it, if they are few of all: those of
/// parameters that no step of this loop changes, so that nothing frees them.
fn gradients_without_step(case: &Case<'_>) -> i64 {
    let Some(&backward) = finished_backwards(case).last() else { return 0 };
    let phases = &case.phases().phases;
    let has_step = phases.iter().any(|start| start.phase == Phase::Optimizer && start.event < backward);
    let is_old = |a: &&Allocation| {
        case.category(a.id) == Category::Gradient && a.alloc_event().is_some_and(|event| event < backward)
    };
    let old: Vec<&Allocation> = case.live.iter().filter(is_old).collect();
    let bytes = sum(&old);
    let are_few = bytes <= case.bytes_of(Category::Parameter) / 4 * 3;
    if has_step && MIN_GRADIENTS <= old.len() && are_few { bytes } else { 0 }
}
