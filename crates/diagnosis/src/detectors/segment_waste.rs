//! Reserved memory that is of no use: holes of pinned segments, and the cache.

use crate::assessment::Assessment;
use crate::case::{Case, Shortage};
use crate::cause::Cause;
use crate::figure;
use crate::finding::{Finding, MAX_STACKS, Role, Severity};
use crate::findings::FindingId;
use crate::pinning::hole_sizes;
use crate::sentence::say;
use oomscope_program::share::{MUCH, NOTABLE};

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    pinned(assessment).into_iter().chain(cached(case)).collect()
}

/// Small blocks that pin large segments.
fn pinned(assessment: &Assessment<'_>) -> Option<Finding> {
    let (case, pinning) = (assessment.case, &assessment.pinning);
    let bytes = pinning.hole_bytes;
    // If the verdict is fragmentation, it says all of it. In a map that contradicts itself, holes mean nothing.
    let is_told = matches!(assessment.cause, Some(Cause::Fragmentation(_))) || case.is_contradictory();
    if !NOTABLE.is_reached(bytes, case.state.total.reserved_bytes) || is_told {
        return None;
    }
    // Where a piece had room, holes are not why the request failed.
    let needs_one = |shortage: &&Shortage| shortage.decisive_piece().is_none();
    let would_help = case.shortage.as_ref().filter(needs_one).is_some_and(|it| it.is_covered_by(bytes));
    let severity = if would_help { Severity::Warning } else { Severity::Info };
    let title = pinning.sentence();
    let mut finding = Finding::new(FindingId::PinnedSegments, severity, title);
    finding.explain("A segment goes back to the driver only when every block in it is free, and its holes serve only requests that fit into one of them.");
    let holes = hole_sizes(case);
    let evidence = &mut finding.evidence;
    evidence.part("kept_hole_bytes", "free bytes that blocks keep", bytes, case.state.total.reserved_bytes);
    evidence.bytes("block_bytes", "bytes in those blocks", pinning.block_bytes);
    evidence.count("segments", "segments", pinning.segments);
    evidence.count("holes", "holes in all", holes.len());
    evidence.bytes("largest_hole_bytes", "largest hole", holes.first().copied().unwrap_or_default());
    evidence.sites = case.code.sites(&pinning.stacks, Role::KeepsFree).into_iter().take(6).collect();
    evidence.stacks = pinning.stacks.iter().take(MAX_STACKS).copied().collect();
    evidence.about(pinning.blocks.iter().copied());
    finding
        .advise("Free or move the blocks of the lines named here, or allocate them before the large ones.");
    finding.weighs(bytes);
    finding.limit("Where several blocks keep a segment, its free bytes are shared equally among them.");
    Some(finding)
}

/// Segments without any block: the cache.
fn cached(case: &Case<'_>) -> Option<Finding> {
    let bytes = case.state.unused_bytes();
    let reserved = case.state.total.reserved_bytes;
    if case.is_oom() || !MUCH.is_reached(bytes, reserved) || case.is_contradictory() {
        return None;
    }
    let title = say!(
        "{} of {} reserved are cached and in no use",
        figure::bytes(bytes).of(reserved),
        figure::bytes(reserved)
    );
    let mut finding = Finding::new(FindingId::CachedSegments, Severity::Info, title);
    finding.explain(say!("The allocator keeps empty segments for later requests and gives them back when a request would fail otherwise. {} counts them as used.", case.words.monitor));
    finding.evidence.part("cached_bytes", "in segments without a block", bytes, reserved);
    finding.evidence.bytes("reserved_bytes", "reserved", reserved);
    finding.advise("Nothing to do, unless another process needs the memory.");
    Some(finding)
}
