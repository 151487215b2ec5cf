//! Bytes that blocks take beyond the request.

use crate::assessment::Assessment;
use crate::case::{Case, by_stack};
use crate::figure;
use crate::finding::{Finding, MAX_STACKS, Role, Severity};
use crate::findings::FindingId;
use crate::sentence::say;
use oomscope_analysis::segment_state::{MAX_SLACK_BYTES, Part};
use oomscope_model::{AllocId, Bytes, DeviceId, PoolKey};
use oomscope_program::share::{MOST, NOTABLE};
use std::cmp::Reverse;

/// How the allocator of a device rounds, and what helps.
const OF_DEVICE: &str = "Blocks are multiples of 512 bytes, or of a fraction of a power of two with roundup_power2_divisions; large blocks keep up to 1 MiB rather than be split.";
const ADVICE_OF_DEVICE: &str = "Put many small tensors into one (foreach or flattened buffers), or use more roundup_power2_divisions if that is set.";

/// How the allocator of pinned host memory rounds, and what helps.
const OF_HOST: &str =
    "The allocator of pinned host memory rounds each block up to a power of two and never splits one.";
const ADVICE_OF_HOST: &str =
    "Pin buffers whose sizes are powers of two or just below, or one large buffer and use parts of it.";

/// Blocks of private pools that were not split.
#[derive(Debug, Clone, Copy, Default)]
struct Whole {
    blocks: usize,
    bytes: Bytes,
    requested: Bytes,
}

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let total = &case.state.total;
    let bytes = total.rounding_bytes();
    if !NOTABLE.is_reached(bytes, total.active_rounded_bytes()) || case.is_contradictory() {
        return Vec::new();
    }
    let whole = whole_blocks(case);
    let is_host = case.recording.device == DeviceId::HOST;
    let (title, reason, advice) = if !is_host && MOST.is_reached(whole.bytes - whole.requested, bytes) {
        (
            say!(
                "{} lie idle in blocks that were not split ({} of what is in use, with rounding)",
                figure::bytes(bytes).of(total.active_rounded_bytes()),
                figure::share(bytes, total.active_rounded_bytes())
            ),
            None,
            "Make the pool without no_split, or allocate one large tensor in it and use parts of that.",
        )
    } else {
        (
            say!(
                "{} in use are rounding ({})",
                figure::bytes(bytes).of(total.active_rounded_bytes()),
                figure::share(bytes, total.active_rounded_bytes())
            ),
            Some(if is_host { OF_HOST } else { OF_DEVICE }),
            if is_host { ADVICE_OF_HOST } else { ADVICE_OF_DEVICE },
        )
    };
    let mut finding = Finding::new(FindingId::Rounding, Severity::Info, title);
    if 0 < whole.blocks {
        finding.explain(say!(
            "{} of private pools take {} for {} that were requested: their pool did not split its blocks.",
            figure::counted(whole.blocks, "block"),
            figure::bytes(whole.bytes),
            figure::bytes(whole.requested).of(whole.bytes)
        ));
    }
    finding.explain_if(reason);
    finding.evidence.part("rounding_bytes", "not asked for", bytes, total.active_rounded_bytes());
    finding.evidence.count("blocks", "blocks", total.blocks);
    name_wasteful(&mut finding, case);
    finding.weighs(bytes);
    finding.advise(advice);
    if !is_host {
        finding.limit("Before the last event the true size of a block that was freed later is not known beyond its rounding to 512 bytes.");
    }
    vec![finding]
}

/// The blocks of private pools that are larger than any pool that splits would leave them.
fn whole_blocks(case: &Case<'_>) -> Whole {
    let state = &case.state;
    let is_private = |group: usize| {
        let key = &state.groups[group].key;
        !key.is_outside && key.pool.is_some_and(PoolKey::is_private)
    };
    let rows = state.rows.iter().filter(|row| is_private(row.group));
    let parts = rows.flat_map(|row| state.parts_of(row)).filter(|part| MAX_SLACK_BYTES < part.rounding());
    parts.fold(Whole::default(), |whole, part| Whole {
        blocks: whole.blocks + 1,
        bytes: whole.bytes + part.size,
        requested: whole.requested + part.requested,
    })
}

/// Name the lines and blocks with most rounding.
fn name_wasteful(finding: &mut Finding, case: &Case<'_>) {
    let wasted = |part: &Part| Some((part.content.allocation()?, part.rounding()));
    let mut blocks: Vec<(AllocId, Bytes)> = case.state.parts.iter().filter_map(wasted).collect();
    blocks.retain(|&(_, bytes)| 0 < bytes);
    blocks.sort_unstable_by_key(|&(id, bytes)| (Reverse(bytes), id));
    let stacks = by_stack(blocks.iter().map(|&(id, bytes)| (case.recording.stack(id), bytes)));
    let evidence = &mut finding.evidence;
    evidence.sites = case.code.sites(&stacks, Role::Rounding).into_iter().take(6).collect();
    evidence.stacks = stacks.into_iter().take(MAX_STACKS).collect();
    evidence.about(blocks.into_iter().map(|(id, _)| id));
}
