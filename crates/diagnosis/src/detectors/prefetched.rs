//! Batches that were moved to the device long before they are used.

use super::place::{places, sum};
use crate::assessment::Assessment;
use crate::case::Case;
use crate::figure;
use crate::finding::Finding;
use crate::findings::FindingId;
use crate::sentence::say;
use oomscope_analysis::{Category, FrameKey};
use oomscope_model::{Allocation, Bytes, StackId};
use oomscope_program::numbers::MANY;
use oomscope_program::share::MUCH;
use std::collections::{BTreeMap, BTreeSet};

/// Batches are ahead of their use if at least this many of them came for each call of a model.
const BATCHES_OF_A_CALL: usize = 2;

/// Categories of batches that no model has been given yet, too.
const MAY_BE_INPUTS: [Category; 3] = [Category::Input, Category::Other, Category::Unknown];

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    // Batches that each iteration leaves behind are the verdict.
    if assessment.is_leak() {
        return Vec::new();
    }
    let kept = case.live.iter().filter(|a| MAY_BE_INPUTS.contains(&case.category(a.id)));
    if !MUCH.is_reached(kept.map(|a| a.size).sum::<Bytes>(), case.live_bytes()) {
        return Vec::new();
    }
    let lines = input_lines(case);
    let is_input = |a: &&Allocation| match case.category(a.id) {
        Category::Input => a.stack != StackId::EMPTY,
        // What no model has been given yet.
        Category::Other | Category::Unknown => {
            case.code.own_line(a.stack).is_some_and(|line| lines.contains(&line))
        }
        _ => false,
    };
    let mut by_stack: BTreeMap<(StackId, Bytes), Vec<&Allocation>> = BTreeMap::new();
    for a in case.live.iter().filter(is_input) {
        by_stack.entry((a.stack, a.size)).or_default().push(a);
    }
    by_stack.retain(|_, batches| MANY <= batches.len() && are_ahead(case, batches));
    let batches: Vec<&Allocation> = by_stack.values().flatten().copied().collect();
    let count = by_stack.values().map(Vec::len).max().unwrap_or(0);
    let bytes = sum(&batches);
    if count == 0 || !MUCH.is_reached(bytes, case.live_bytes()) {
        return Vec::new();
    }
    let title = say!(
        "{} of inputs wait on the device for their use and take {}",
        figure::counted(count, "tensor"),
        figure::bytes(bytes).of(case.live_bytes())
    );
    let mut finding = Finding::new(FindingId::PrefetchedBatches, case.severity_of(bytes), title);
    finding.explain("They were moved to the device faster than the model was called: a list of all batches, a data set that is held on the device, or a queue without a limit.");
    finding.evidence.part("batch_bytes", "inputs that were moved ahead", bytes, case.live_bytes());
    finding.evidence.count("batches", "of one line, at most", count);
    places(&mut finding, case, &batches);
    finding.advise_code(
        "Keep batches in (pinned) CPU memory, and move each to the device when it is used:",
        "for x, y in loader:                       # pin_memory=True\n    x = x.to(\"cuda\", non_blocking=True)",
    );
    finding.advise_code("Limit what is loaded ahead:", "batches = queue.Queue(maxsize=2)");
    finding.weighs(bytes);
    finding.limit("A data set that fits may stay on the device on purpose.");
    vec![finding]
}

/// The own lines that made inputs at any time.
fn input_lines(case: &Case<'_>) -> BTreeSet<FrameKey> {
    let timeline = case.recording.timeline();
    let mut makes_inputs = vec![false; case.recording.snapshot().stacks.len()];
    for id in timeline.ids().filter(|&id| case.category(id) == Category::Input) {
        makes_inputs[timeline.stack(id).index()] = true;
    }
    let stacks = (0..).map(StackId).zip(makes_inputs).filter(|&(_, makes)| makes);
    stacks.filter_map(|(stack, _)| case.code.own_line(stack)).collect()
}

/// Whether a line made several batches for each call of a model since the oldest of them that is live.
fn are_ahead(case: &Case<'_>, batches: &[&Allocation]) -> bool {
    let Some(first) = batches.iter().filter_map(|a| a.alloc_event()).min() else { return false };
    let calls = &case.phases().calls;
    let since = calls.iter().filter(|call| first < call.event && call.event.0 < case.moment.0).count();
    since.saturating_mul(BATCHES_OF_A_CALL) <= batches.len()
}
