//! Reserved memory that is of no use: holes that blocks keep, and the cache.

use crate::diagnosis::{Context, Finding, Role, Saving, Severity, pins, verdict};
use crate::units;

/// Less than this share of what is reserved is not worth a word.
const MIN_SHARE: f64 = 0.1;

pub(super) fn find(context: &Context<'_>) -> Vec<Finding> {
    kept(context).into_iter().chain(cached(context)).collect()
}

/// Small blocks that keep large segments.
fn kept(context: &Context<'_>) -> Option<Finding> {
    let reserved = context.state.total.reserved_bytes;
    let (bytes, rows) = pins::kept_holes(context);
    // Fragmentation as the verdict says all of it; in a map that contradicts itself holes mean nothing.
    let is_told = verdict::is_fragmentation(context) || context.is_contradictory();
    if Context::share(bytes, reserved) < MIN_SHARE || is_told {
        return None;
    }
    let stacks = pins::pinning(context);
    let blocks = pins::blocks(context, usize::MAX);
    let held = blocks.iter().fold(0i64, |sum, &id| sum.saturating_add(context.allocation(id).size));
    let severity = match &context.shortage {
        Some(shortage) if shortage.missing_bytes().is_some_and(|missing| missing <= bytes) => {
            Severity::Warning
        }
        _ => Severity::Info,
    };
    let title = verdict::kept_free(context).trim_end_matches('.').to_owned();
    let mut finding = Finding::new("pinned-segments", severity, title);
    finding.explain("A segment goes back to the driver only when every block in it is free, and its holes serve only requests that fit into one of them.");
    let holes = pins::holes(context);
    let evidence = &mut finding.evidence;
    evidence.bytes("kept_hole_bytes", "free bytes that blocks keep", bytes);
    evidence.bytes("block_bytes", "bytes in those blocks", held);
    evidence.count("segments", "segments", rows);
    evidence.count("holes", "holes in all", holes.len());
    evidence.bytes("largest_hole_bytes", "largest hole", holes.first().copied().unwrap_or(0));
    evidence.sites = context.code.sites(&stacks, Role::KeepsFree).into_iter().take(6).collect();
    evidence.stacks = stacks.into_iter().take(3).collect();
    evidence.allocations = blocks.into_iter().take(10).collect();
    finding
        .advise("Free or move the blocks of the lines named here, or allocate them before the large ones.");
    finding.saving =
        Some(Saving { bytes, formula: "free bytes of segments that are at least a quarter free".to_owned() });
    finding.limit("Where several blocks keep a segment, its free bytes are shared equally among them.");
    Some(finding)
}

/// Segments without any block: the cache.
fn cached(context: &Context<'_>) -> Option<Finding> {
    let bytes = context.state.unused_bytes();
    let reserved = context.state.total.reserved_bytes;
    if context.is_oom() || Context::share(bytes, reserved) < 0.25 || context.is_contradictory() {
        return None;
    }
    let title =
        format!("{} of {} reserved are cached and in no use", units::bytes(bytes), units::bytes(reserved));
    let mut finding = Finding::new("cached-segments", Severity::Info, title);
    finding.explain("The allocator keeps empty segments for later requests and gives them back when a request would fail otherwise. nvidia-smi counts them as used.");
    finding.evidence.bytes("cached_bytes", "in segments without a block", bytes);
    finding.evidence.bytes("reserved_bytes", "reserved", reserved);
    finding.advise("Nothing to do, unless another process needs the memory.");
    Some(finding)
}
