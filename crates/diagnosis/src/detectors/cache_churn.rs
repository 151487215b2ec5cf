//! Segments that go back to the driver and are requested again.

use crate::assessment::Assessment;
use crate::case::{Case, by_stack};
use crate::figure;
use crate::finding::{Finding, Role, Severity};
use crate::findings::FindingId;
use crate::sentence::{Sentence, say};
use oomscope_model::{Action, Bytes, EventIx};
use oomscope_program::numbers::{MANY, SEVERAL};

/// Bursts that a finding lists, at most.
const MAX_EVENTS: usize = 10;

/// Why segments went back to the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// A request would have failed otherwise.
    Retry,
    /// A request failed, although they were given back for it.
    Oom,
    /// Something else: `empty_cache()`, the start of a graph capture, or garbage collection.
    Other,
}

/// A run of segments that went back to the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Burst {
    first: EventIx,
    bytes: Bytes,
    why: Why,
}

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let bursts = bursts(case);
    let of = |why| bursts.iter().filter(|burst| burst.why == why).copied().collect::<Vec<_>>();
    let (retries, others) = (of(Why::Retry), of(Why::Other));
    let mut findings = Vec::new();
    findings.extend(retried(case, &retries));
    findings.extend(emptied(case, &others));
    findings
}

/// The runs of segments that went back to the driver until the moment.
fn bursts(case: &Case<'_>) -> Vec<Burst> {
    let events = &case.recording.events;
    let mut bursts: Vec<Burst> = Vec::new();
    let mut open: Option<(EventIx, Bytes)> = None;
    for ix in events.indices().take(case.moment.index()) {
        match events.action(ix) {
            Action::SegmentFree | Action::SegmentUnmap => {
                let (first, bytes) = open.unwrap_or((ix, Bytes::ZERO));
                open = Some((first, bytes + events.size(ix).or_zero()));
            }
            // A request that empties the cache completes frees on its way.
            Action::FreeCompleted if open.is_some() => {}
            action => {
                if let Some((first, bytes)) = open.take() {
                    let why = match action {
                        Action::SegmentAlloc | Action::SegmentMap => Why::Retry,
                        Action::Oom => Why::Oom,
                        _ => Why::Other,
                    };
                    bursts.push(Burst { first, bytes, why });
                }
            }
        }
    }
    bursts
}

/// Add the figures, lines and events of bursts.
fn evidence(case: &Case<'_>, finding: &mut Finding, bursts: &[Burst]) {
    let events = &case.recording.events;
    let bytes = bursts.iter().map(|burst| burst.bytes).sum::<Bytes>();
    let stacks = by_stack(bursts.iter().map(|burst| (events.stack(burst.first), burst.bytes)));
    let evidence = &mut finding.evidence;
    evidence.count("bursts", "times", bursts.len());
    evidence.bytes("returned_bytes", "given back to the driver in all", bytes);
    evidence.sites = case.code.sites(&stacks, Role::Returned).into_iter().take(5).collect();
    evidence.stacks = stacks.into_iter().take(1).collect();
    evidence.events = bursts.iter().take(MAX_EVENTS).map(|burst| burst.first).collect();
}

fn retried(case: &Case<'_>, bursts: &[Burst]) -> Option<Finding> {
    let n = bursts.len();
    if n == 0 {
        return None;
    }
    let severity = if case.is_oom() && MANY <= n { Severity::Warning } else { Severity::Info };
    let title = say!("The cache was emptied {} to serve a request", times(n));
    let mut finding = Finding::new(FindingId::AllocationRetries, severity, title);
    finding.explain("Before a request fails, the allocator waits for the device, gives every empty segment back to the driver and tries again. That is slow, and a sign that memory is nearly full or cut into the wrong sizes.");
    evidence(case, &mut finding, bursts);
    let expandable = if case.expandable_segments().may_be_advised() {
        "; expandable_segments:True avoids most of it"
    } else {
        ""
    };
    finding.advise(say!(
        "Leave more room (a smaller batch), or keep request sizes constant so that segments are reused{}.",
        expandable
    ));
    finding.limit("num_alloc_retries is not in a snapshot: a run of segment_free before segment_alloc is taken for one; max_split_size_mb and garbage_collection_threshold look alike.");
    Some(finding)
}

fn emptied(case: &Case<'_>, bursts: &[Burst]) -> Option<Finding> {
    if bursts.len() < SEVERAL {
        return None;
    }
    let title = say!("The cache was emptied {} times without need", figure::count(bursts.len()));
    let mut finding = Finding::new(FindingId::EmptyCache, Severity::Info, title);
    finding.explain(say!("Segments went back to the driver although no request was waiting for them. Calls of {}.empty_cache() in the loop do that; every segment that is needed again costs a {}.", case.words.module, case.words.malloc));
    evidence(case, &mut finding, bursts);
    finding.advise("Remove empty_cache() from the loop: it does not make more memory available to PyTorch.");
    finding.limit(say!("The start of a {} graph capture, garbage_collection_threshold and the destruction of a pool give segments back as well; the snapshot does not tell them apart.", case.words.api));
    Some(finding)
}

fn times(n: usize) -> Sentence {
    if n == 1 { "once".into() } else { say!("{} times", figure::count(n)) }
}
