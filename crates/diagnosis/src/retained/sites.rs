//! The lines of code that lead to retained memory.

use super::Retained;
use crate::case::{Among, Caller, Case, add_sites, leading};
use crate::finding::{Role, Site};

/// The callers that lead to the retained memory and to little else, then the lines that allocated it, then those in between.
pub(super) fn sites(retained: &Retained, case: &Case<'_>, limit: usize) -> Vec<Site> {
    let callers = leading(case, &retained.stacks, Among::Made);
    let (first, between) = callers.split_at(callers.len().min(limit / 2));
    let site = |caller: &Caller| case.code.site(caller.key, caller.bytes, caller.count, Role::Retained);
    let mut all: Vec<Site> = first.iter().map(site).collect();
    add_sites(&mut all, case.code.sites(&retained.stacks, Role::Retained), limit);
    add_sites(&mut all, between.iter().filter(|caller| !caller.is_start).map(site).collect(), limit);
    all
}
