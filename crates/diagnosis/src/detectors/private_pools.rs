//! Memory that only a CUDA graph or a `MemPool` can use.

use crate::assessment::Assessment;
use crate::figure;
use crate::finding::{Finding, Role};
use crate::findings::FindingId;
use crate::sentence::say;
use oomscope_analysis::segment_state::Group;
use oomscope_model::{Bytes, PoolKey};
use std::collections::BTreeMap;

/// The reserved and the free bytes of a pool.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    reserved: Bytes,
    free: Bytes,
}

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    let state = &case.state;
    let mut pools: BTreeMap<PoolKey, Held> = BTreeMap::new();
    let private = |group: &&Group| !group.key.is_outside && group.key.pool.is_some_and(PoolKey::is_private);
    for group in state.groups.iter().filter(private) {
        let Some(key) = group.key.pool else { continue };
        let held = pools.entry(key).or_default();
        held.reserved += group.figures.reserved_bytes;
        held.free += group.figures.hole_bytes;
    }
    let reserved = pools.values().map(|held| held.reserved).sum::<Bytes>();
    let free = pools.values().map(|held| held.free).sum::<Bytes>();
    if reserved <= 0 {
        return Vec::new();
    }
    let noun = if pools.len() == 1 { "private pool reserves" } else { "private pools reserve" };
    let title = say!(
        "{} {} {}, {} of them free",
        figure::count(pools.len()),
        noun,
        figure::bytes(reserved).of(case.state.total.reserved_bytes),
        figure::bytes(free).of(reserved)
    );
    let mut finding = Finding::new(FindingId::PrivatePools, case.severity_of(free), title);
    finding.explain(say!("A captured {} graph keeps the memory of its pool for every replay, and a MemPool serves only what is allocated in it. Other requests cannot use what is free there.", case.words.api));
    let evidence = &mut finding.evidence;
    evidence.count("pools", "private pools", pools.len());
    evidence.part("private_reserved_bytes", "reserved in them", reserved, case.state.total.reserved_bytes);
    evidence.part("private_free_bytes", "free in them", free, reserved);
    evidence.bytes("reserved_bytes", "reserved in all", case.state.total.reserved_bytes);
    let rows = state.rows.iter().filter(|row| private(&&state.groups[row.group]));
    let blocks = rows.flat_map(|row| state.parts_of(row)).filter_map(|part| part.content.allocation());
    let stacks = case.stacks_of(blocks);
    evidence.sites = case.code.sites(&stacks, Role::Live).into_iter().take(6).collect();
    evidence.stacks = stacks.into_iter().take(2).collect();
    finding.advise_code(
        "Let graphs that never run at the same time share a pool:",
        case.words.code("torch.cuda.graph(g, pool=first_graph.pool())"),
    );
    finding.advise("Capture fewer shapes, and delete graphs and pools that are not used any more.");
    finding.limit("The snapshot does not say whether a pool belongs to a graph or a MemPool, nor whether it will be used again.");
    vec![finding]
}
