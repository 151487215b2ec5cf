//! More calls at once than ever before.

use super::graph::Graph;
use crate::case::Case;
use crate::detectors::place::{places, sum};
use crate::figure::{self, Figure};
use crate::finding::Finding;
use crate::findings::FindingId;
use crate::sentence::{Sentence, say};
use oomscope_analysis::ModelCall;
use oomscope_model::{Allocation, EventIx, Moment, StackId};
use oomscope_program::share::MUCH;

/// The stretch of a program whose calls are counted. Where gradients are part of a loss, backward passes within an iteration
/// free no graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stretch {
    BeforeBackward,
    Iteration,
}

impl Stretch {
    fn title(self, calls: usize, bytes: Figure, before: usize) -> Sentence {
        let (calls, before) = (figure::counted(calls, "call"), figure::count(before));
        match self {
            Self::BeforeBackward => say!(
                "{} of the model wait for one backward pass and hold {}; before, it was at most {}",
                calls,
                bytes,
                before
            ),
            Self::Iteration => say!(
                "{} of the model in one iteration hold their graphs at once, {}; before, an iteration had at most {}",
                calls,
                bytes,
                before
            ),
        }
    }

    fn calls_now(self) -> &'static str {
        match self {
            Self::BeforeBackward => "calls since the last backward pass",
            Self::Iteration => "calls of this iteration that hold a graph",
        }
    }

    fn calls_before(self) -> &'static str {
        match self {
            Self::BeforeBackward => "calls before one backward pass until then, at most",
            Self::Iteration => "calls of one iteration until then, at most",
        }
    }
}

/// The first events of the iterations after the first, until the moment.
pub(super) fn later_iterations(case: &Case<'_>) -> Vec<EventIx> {
    let starts = case.phases().iterations.list.iter().skip(1).map(|iteration| iteration.start);
    starts.filter(|event| event.0 < case.moment.0).collect()
}

/// More calls than ever before wait for one backward pass, or are of one iteration; `ends` are those before the moment.
pub(super) fn more_calls(
    case: &Case<'_>,
    graphs: &[Graph<'_>],
    ends: &[EventIx],
    stretch: Stretch,
) -> Option<Finding> {
    let last = *ends.last()?;
    let before = most_calls_before_an_end(case, ends).filter(|&most| 0 < most)?;
    let is_new = |graph: &&Graph<'_>| graph.began(case).is_some_and(|event| last < event);
    let now: Vec<&Graph<'_>> = graphs.iter().filter(is_new).collect();
    let blocks: Vec<&Allocation> = now.iter().flat_map(|graph| graph.blocks.iter().copied()).collect();
    let bytes = sum(&blocks);
    if now.len() <= before || !MUCH.is_reached(bytes, case.live_bytes()) {
        return None;
    }
    let most = now.iter().map(|graph| graph.bytes).max().unwrap_or_default();
    let saved = bytes - most;
    let title = stretch.title(now.len(), figure::bytes(bytes).of(case.live_bytes()), before);
    let mut finding = Finding::new(FindingId::CallsBeforeBackward, case.severity_of(saved), title);
    finding.explain("Each call keeps its graph until its backward pass, so their activations add up. If a backward pass was left out, as for a loss that was skipped, the graph of that call stays until its output is replaced.");
    finding.evidence.part("graph_bytes", "activations of these calls", bytes, case.live_bytes());
    finding.evidence.count("calls", stretch.calls_now(), now.len());
    finding.evidence.count("calls_before", stretch.calls_before(), before);
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
    finding.weighs(saved);
    Some(finding)
}

/// Whether these calls were made by stacks that did not allocate before the last backward pass, so that none followed them.
fn is_new_code(case: &Case<'_>, graphs: &[&Graph<'_>], last: EventIx) -> bool {
    let timeline = case.recording.timeline();
    let mut ran_before = vec![false; case.recording.snapshot().stacks.len()];
    for id in timeline.ids().take_while(|&id| timeline.lifetimes.start(id) <= Moment(last.0)) {
        ran_before[timeline.stack(id).index()] = true;
    }
    let mut stacks = graphs.iter().flat_map(|graph| &graph.blocks).map(|a| a.stack);
    stacks.all(|stack| stack != StackId::EMPTY && !ran_before[stack.index()])
}

/// The most calls that came between the first call that trains after one of some events and the next. Calls that
/// seem not to train may be parts of the same forward pass.
fn most_calls_before_an_end(case: &Case<'_>, ends: &[EventIx]) -> Option<usize> {
    let calls = &case.phases().calls;
    let between = |(at, &end): (usize, &EventIx)| {
        let start = at.checked_sub(1).and_then(|at| ends.get(at));
        let is_between =
            |call: &&ModelCall| start.is_none_or(|start| *start < call.event) && call.event < end;
        let from = calls.partition_point(|call| start.is_some_and(|start| call.event <= *start));
        let calls = calls.get(from..).into_iter().flatten().take_while(is_between);
        calls.skip_while(|call| !call.trains).count()
    };
    ends.iter().enumerate().map(between).max()
}
