//! Bytes that blocks take and nobody asked for.

use crate::analysis::segment_state::{MAX_SLACK_BYTES, Part};
use crate::diagnosis::code::by_stack;
use crate::diagnosis::{Context, Finding, Role, Saving, Severity};
use crate::model::{AllocId, PoolKey};
use crate::units;
use std::cmp::Reverse;

/// Less than this share of what is in use is not worth a word.
const MIN_SHARE: f64 = 0.1;

/// Blocks of private pools that were not split.
#[derive(Debug, Clone, Copy, Default)]
struct Whole {
    blocks: usize,
    bytes: i64,
    requested: i64,
}

pub(super) fn find(context: &Context<'_>) -> Vec<Finding> {
    let total = &context.state.total;
    let bytes = total.rounding_bytes();
    let share = Context::share(bytes, total.active_rounded_bytes());
    if share < MIN_SHARE || context.is_contradictory() {
        return Vec::new();
    }
    let whole = whole_blocks(context);
    let (title, reason, advice) = if bytes / 2 <= whole.bytes.saturating_sub(whole.requested) {
        (
            format!(
                "{} lie idle in blocks that were not split ({:.0} % of what is in use, with rounding)",
                units::bytes(bytes),
                share * 100.0
            ),
            None,
            "Make the pool without no_split, or allocate one large tensor in it and use parts of that.",
        )
    } else {
        (
            format!("{} in use are rounding ({:.0} %)", units::bytes(bytes), share * 100.0),
            Some(
                "Blocks are multiples of 512 bytes, or of a fraction of a power of two with roundup_power2_divisions; large blocks keep up to 1 MiB rather than be split.",
            ),
            "Put many small tensors into one (foreach or flattened buffers), or use more roundup_power2_divisions if that is set.",
        )
    };
    let mut finding = Finding::new("rounding", Severity::Info, title);
    if 0 < whole.blocks {
        finding.explain(format!(
            "{} of private pools take {} for {} that were requested: their pool did not split its blocks.",
            units::counted(whole.blocks, "block"),
            units::bytes(whole.bytes),
            units::bytes(whole.requested)
        ));
    }
    finding.explanation.extend(reason.map(str::to_owned));
    finding.evidence.bytes("rounding_bytes", "not asked for", bytes);
    finding.evidence.count("blocks", "blocks", total.blocks);
    places(&mut finding, context);
    finding.saving = Some(Saving { bytes, formula: "block bytes - requested bytes".to_owned() });
    finding.advise(advice);
    finding.limit("Before the last event the true size of a block that was freed later is not known beyond its rounding to 512 bytes.");
    vec![finding]
}

/// Blocks of private pools that keep more than any other pool would leave them.
fn whole_blocks(context: &Context<'_>) -> Whole {
    let state = &context.state;
    let is_private = |group: usize| {
        let key = &state.groups[group].key;
        !key.is_outside && key.pool.is_some_and(PoolKey::is_private)
    };
    let rows = state.rows.iter().filter(|row| is_private(row.group));
    let parts = rows.flat_map(|row| state.parts_of(row)).filter(|part| MAX_SLACK_BYTES < part.rounding());
    parts.fold(Whole::default(), |whole, part| Whole {
        blocks: whole.blocks + 1,
        bytes: whole.bytes.saturating_add(part.size),
        requested: whole.requested.saturating_add(part.requested),
    })
}

/// Whose blocks they are, by what nobody asked for.
fn places(finding: &mut Finding, context: &Context<'_>) {
    let wasted = |part: &Part| Some((part.content.allocation()?, part.rounding()));
    let mut blocks: Vec<(AllocId, i64)> = context.state.parts.iter().filter_map(wasted).collect();
    blocks.retain(|&(_, bytes)| 0 < bytes);
    blocks.sort_unstable_by_key(|&(id, bytes)| (Reverse(bytes), id));
    let stacks = by_stack(blocks.iter().map(|&(id, bytes)| (context.allocation(id).stack, bytes)));
    let evidence = &mut finding.evidence;
    evidence.sites = context.code.sites(&stacks, Role::Rounding).into_iter().take(6).collect();
    evidence.stacks = stacks.into_iter().take(3).collect();
    evidence.allocations = blocks.into_iter().take(10).map(|(id, _)| id).collect();
}
