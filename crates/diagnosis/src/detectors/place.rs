//! The lines, stacks and blocks of the memory that a finding is about.

use crate::case::{Case, by_stack};
use crate::finding::{Finding, MAX_STACKS, Role};
use crate::sentence::{Name, name};
use oomscope_analysis::holder_text;
use oomscope_model::{Allocation, Bytes, Census, CensusIx};
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

/// A model as the program has it: the variable that holds it, with its function, or else its class.
pub(super) fn model_name(census: &Census, owner: CensusIx) -> Name {
    let owner = census.owner(owner);
    match owner.holder {
        Some(holder) => name(holder_text(census, census.holder(holder))),
        None => name(census.text(owner.class).to_owned()),
    }
}

/// The variable that is a model, where it can be written in code as it stands.
pub(super) fn variable(census: &Census, owner: CensusIx) -> Option<&str> {
    let variable = census.text(census.holder(census.owner(owner).holder?).variable);
    let is_name = |part: &str| {
        part.chars().all(|c| c.is_alphanumeric() || c == '_')
            && !part.starts_with(|c: char| c.is_ascii_digit())
    };
    variable.split('.').all(|part| !part.is_empty() && is_name(part)).then_some(variable)
}

/// Requested bytes of some allocations.
pub(super) fn sum(live: &[&Allocation]) -> Bytes {
    live.iter().map(|a| a.size).sum::<Bytes>()
}
