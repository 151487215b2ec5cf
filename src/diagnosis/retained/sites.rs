//! The lines of code that lead to retained memory.

use super::Retained;
use crate::diagnosis::case::{Caller, Case, add_sites, callers_of};
use crate::diagnosis::finding::{Role, Site};
use crate::diagnosis::share::share;
use std::cmp::Reverse;

/// A line leads to retained memory if at least this share of its bytes was allocated below it: a little of it may come
/// from elsewhere.
const LEADING_SHARE: f64 = 0.9;

/// Of the lines that lead to it, those are left out that mostly allocate other memory: their own share of retained bytes
/// is less than one in this many of the best line's.
const BEST_SHARE_PART: f64 = 50.0;

/// Steps in which shares are compared: a batch that a graph keeps as well makes no difference.
const SHARE_STEPS: f64 = 20.0;

/// The callers that lead to nearly all of the retained memory and to little else, then the lines that allocated it, then
/// those in between.
pub(super) fn sites(retained: &Retained, case: &Case<'_>, limit: usize) -> Vec<Site> {
    let callers = callers_of(case, &retained.stacks);
    let site = |caller: &Caller| case.code.site(caller.key, caller.bytes, caller.count, Role::Retained);
    let mut sites: Vec<Site> = leading(retained, &callers).iter().map(site).collect();
    sites.truncate(limit / 2);
    add_sites(&mut sites, case.code.sites(&retained.stacks, Role::Retained), limit);
    let between = callers.iter().filter(|caller| !caller.is_start);
    add_sites(&mut sites, between.map(site).collect(), limit);
    sites
}

/// The callers of nearly all of it, those that allocate least else first.
fn leading(retained: &Retained, callers: &[Caller]) -> Vec<Caller> {
    let leads = |caller: &&Caller| LEADING_SHARE <= share(caller.bytes, retained.bytes);
    let mut leading: Vec<Caller> = callers.iter().filter(leads).copied().collect();
    let best = leading.iter().map(|caller| caller.share).fold(0.0, f64::max);
    leading.retain(|caller| best / BEST_SHARE_PART <= caller.share);
    let rank = |caller: &Caller| (caller.share / best * SHARE_STEPS).round() as i64;
    leading.sort_by_key(|caller| (caller.is_start, Reverse(rank(caller)), caller.depth, caller.key));
    leading
}
