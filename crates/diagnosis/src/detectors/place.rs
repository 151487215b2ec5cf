//! The lines, stacks and blocks of the memory that a finding is about.

use crate::case::{Case, by_stack};
use crate::finding::{Finding, MAX_STACKS, Role};
use oomscope_model::{Allocation, Bytes};
use std::cmp::Reverse;

/// Lines that a finding names.
const MAX_LINES: usize = 6;

/// Name the lines, stacks and blocks of some live memory.
pub(super) fn places(finding: &mut Finding, case: &Case<'_>, live: &[&Allocation]) {
    let stacks = by_stack(live.iter().map(|a| (a.stack, a.size)));
    let evidence = &mut finding.evidence;
    evidence.sites = case.code.sites(&stacks, Role::Live).into_iter().take(MAX_LINES).collect();
    evidence.stacks = stacks.into_iter().take(MAX_STACKS).collect();
    let mut largest: Vec<&Allocation> = live.to_vec();
    largest.sort_by_key(|a| (Reverse(a.size), a.id));
    evidence.about(largest.into_iter().map(|a| a.id));
}

/// Requested bytes of some allocations.
pub(super) fn sum(live: &[&Allocation]) -> Bytes {
    live.iter().map(|a| a.size).sum::<Bytes>()
}
