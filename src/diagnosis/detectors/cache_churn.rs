//! Segments that go back to the driver and are asked for again.

use crate::diagnosis::code::by_stack;
use crate::diagnosis::{Context, Finding, Role, Severity};
use crate::model::{Action, EventIx};
use crate::units;

/// Bursts that are listed.
const MAX_EVENTS: usize = 10;

/// Events without any memory operation between a flush and the request that caused it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// A request would have failed otherwise.
    Retry,
    /// A request failed all the same.
    Oom,
    /// Something else: `empty_cache()`, the start of a graph capture, or garbage collection.
    Other,
}

/// A run of segments that went back to the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Burst {
    first: EventIx,
    bytes: i64,
    why: Why,
}

pub(super) fn find(context: &Context<'_>) -> Vec<Finding> {
    let bursts = bursts(context);
    let of = |why| bursts.iter().filter(|burst| burst.why == why).copied().collect::<Vec<_>>();
    let (retries, others) = (of(Why::Retry), of(Why::Other));
    let mut findings = Vec::new();
    findings.extend(retried(context, &retries));
    findings.extend(emptied(context, &others));
    findings
}

fn bursts(context: &Context<'_>) -> Vec<Burst> {
    let events = &context.timeline.events;
    let mut bursts: Vec<Burst> = Vec::new();
    let mut open: Option<(EventIx, i64)> = None;
    for ix in events.indices().take(context.moment.index()) {
        match events.action(ix) {
            Action::SegmentFree | Action::SegmentUnmap => {
                let (first, bytes) = open.unwrap_or((ix, 0));
                open = Some((first, bytes.saturating_add(events.size(ix).max(0))));
            }
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

fn evidence(context: &Context<'_>, finding: &mut Finding, bursts: &[Burst]) {
    let events = &context.timeline.events;
    let bytes = bursts.iter().fold(0i64, |sum, burst| sum.saturating_add(burst.bytes));
    let stacks = by_stack(bursts.iter().map(|burst| (events.stack(burst.first), burst.bytes)));
    let evidence = &mut finding.evidence;
    evidence.count("bursts", "times", bursts.len());
    evidence.bytes("returned_bytes", "given back to the driver in all", bytes);
    evidence.sites = context.code.sites(&stacks, Role::Returned).into_iter().take(5).collect();
    evidence.stacks = stacks.into_iter().take(1).collect();
    evidence.events = bursts.iter().take(MAX_EVENTS).map(|burst| burst.first).collect();
}

fn retried(context: &Context<'_>, bursts: &[Burst]) -> Option<Finding> {
    let n = bursts.len();
    if n == 0 {
        return None;
    }
    let severity = if context.is_oom() && 10 <= n { Severity::Warning } else { Severity::Info };
    let title = format!("The cache was emptied {} to serve a request", times(n));
    let mut finding = Finding::new("allocation-retries", severity, title);
    finding.explain("Before a request fails, the allocator waits for the device, gives every empty segment back to the driver and tries again. That is slow, and a sign that memory is nearly full or cut into the wrong sizes.");
    evidence(context, &mut finding, bursts);
    finding.advise("Leave more room (a smaller batch), or keep request sizes constant so that segments are reused; expandable_segments:True avoids most of it.");
    finding.limit("num_alloc_retries is not in a snapshot: a run of segment_free before segment_alloc is taken for one; max_split_size_mb and garbage_collection_threshold look alike.");
    Some(finding)
}

fn emptied(context: &Context<'_>, bursts: &[Burst]) -> Option<Finding> {
    if bursts.len() < 3 {
        return None;
    }
    let title = format!("The cache was emptied {} times without need", units::count(bursts.len() as u64));
    let mut finding = Finding::new("empty-cache", Severity::Info, title);
    finding.explain("Segments went back to the driver although no request was waiting for them. Calls of torch.cuda.empty_cache() in the loop do that; every segment that is needed again costs a cudaMalloc.");
    evidence(context, &mut finding, bursts);
    finding.advise("Remove empty_cache() from the loop: it does not make more memory available to PyTorch.");
    finding.limit("The start of a CUDA graph capture, garbage_collection_threshold and the destruction of a pool give segments back as well; the snapshot does not tell them apart.");
    Some(finding)
}

fn times(n: usize) -> String {
    if n == 1 { "once".to_owned() } else { format!("{} times", units::count(n as u64)) }
}
