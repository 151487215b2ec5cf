//! Which lines of code hold most of what is live.

use crate::diagnosis::code::by_stack;
use crate::diagnosis::{Context, Finding, Role, Severity};
use crate::model::Allocation;
use crate::units;

/// What was there before an iteration must be this share to be told apart.
const MIN_BEFORE: f64 = 0.1;

/// Lines that are named.
const MAX_SITES: usize = 10;

pub(super) fn find(context: &Context<'_>) -> Vec<Finding> {
    holders(context).into_iter().chain(rise(context)).collect()
}

fn holders(context: &Context<'_>) -> Option<Finding> {
    let total = context.live.iter().fold(0i64, |sum, a| sum.saturating_add(a.size));
    let stacks = context.live_stacks();
    let sites = context.code.sites(&stacks, Role::Live);
    let first = sites.first().filter(|site| 0 < site.bytes)?;
    let place = format!("{}:{}", units::basename(&first.file), first.line);
    let unnamed = stacks.iter().filter(|row| context.code.lines(row.stack).is_empty());
    let unnamed = unnamed.fold(0i64, |sum, row| sum.saturating_add(row.bytes));
    let part = |bytes| {
        let share = Context::share(bytes, total) * 100.0;
        format!("{} of {} in use ({share:.0} %)", units::bytes(bytes), units::bytes(total))
    };
    let title = if first.bytes < unnamed {
        let largest = units::bytes(first.bytes);
        format!("{} have no line of your own code; the largest line is {place} with {largest}", part(unnamed))
    } else {
        format!("Largest line of code: {place} with {}", part(first.bytes))
    };
    let mut finding = Finding::new("top-contributors", Severity::Info, title);
    finding.explanation.extend(context.code.overlap(&stacks));
    let named: usize = sites.len().min(MAX_SITES);
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
    Some(finding)
}

/// What this iteration added to what was there before.
fn rise(context: &Context<'_>) -> Option<Finding> {
    let start = context.iteration_start()?;
    let is_new = |a: &&Allocation| a.alloc_event().is_some_and(|event| start <= event);
    let added: Vec<&Allocation> = context.live.iter().filter(is_new).collect();
    let bytes = added.iter().fold(0i64, |sum, a| sum.saturating_add(a.size));
    let before = context.live_bytes().saturating_sub(bytes);
    // Where nearly all is new, the largest holders say the same.
    if bytes <= 0 || Context::share(before, context.live_bytes()) < MIN_BEFORE {
        return None;
    }
    let title =
        format!("This iteration added {} to the {} before it", units::bytes(bytes), units::bytes(before));
    let mut finding = Finding::new("rise", Severity::Info, title);
    let stacks = by_stack(added.iter().map(|a| (a.stack, a.size)));
    finding.evidence.event("iteration_start", "start of the iteration", start);
    finding.evidence.bytes("added_bytes", "allocated since, and in use", bytes);
    finding.evidence.bytes("before_bytes", "in use from before", before);
    let sites = context.code.sites(&stacks, Role::Live);
    finding.explanation.extend(context.code.overlap(&stacks));
    finding.evidence.sites = sites.into_iter().take(MAX_SITES).collect();
    finding.evidence.allocations = added.iter().take(MAX_SITES).map(|a| a.id).collect();
    Some(finding)
}
