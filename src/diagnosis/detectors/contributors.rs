//! Which lines of code hold most of what is live.

use crate::diagnosis::{Context, Finding, Severity};
use crate::units;

/// Lines that are named.
const MAX_SITES: usize = 10;

pub(super) fn find(context: &Context<'_>) -> Vec<Finding> {
    let total = context.live.iter().fold(0i64, |sum, a| sum.saturating_add(a.size));
    let stacks = context.live_stacks();
    let sites = context.code.sites(&stacks);
    let Some(first) = sites.first().filter(|site| 0 < site.bytes) else { return Vec::new() };
    let place = format!("{}:{}", units::basename(&first.file), first.line);
    let title = format!(
        "{place} holds most: {} of {} in use ({:.0} %)",
        units::bytes(first.bytes),
        units::bytes(total),
        Context::share(first.bytes, total) * 100.0
    );
    let mut finding = Finding::new("top-contributors", Severity::Info, title);
    let named: usize = sites.len().min(MAX_SITES);
    let unnamed = stacks.iter().filter(|row| context.code.lines(row.stack).is_empty());
    let unnamed = unnamed.fold(0i64, |sum, row| sum.saturating_add(row.bytes));
    let evidence = &mut finding.evidence;
    evidence.bytes("live_bytes", "in use, as requested", total);
    evidence.count("live_allocations", "allocations", context.live.len());
    evidence.count("lines", "lines of code that hold them", sites.len());
    if 0 < unnamed {
        evidence.bytes("without_own_code_bytes", "without a line of your own code", unnamed);
    }
    evidence.allocations = context.live.iter().take(MAX_SITES).map(|a| a.id).collect();
    evidence.sites = sites.into_iter().take(named).collect();
    evidence.stacks = stacks.into_iter().take(3).collect();
    if 0 < unnamed {
        finding.limit("The autograd engine allocates in threads of its own, where no Python line is known; so do C++ programs.");
    }
    vec![finding]
}
