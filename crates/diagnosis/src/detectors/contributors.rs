//! The lines of code that hold most of the live memory.

use crate::assessment::Assessment;
use crate::case::{Case, by_stack};
use crate::figure;
use crate::finding::{Finding, MAX_STACKS, Role, Severity};
use crate::findings::FindingId;
use crate::sentence::{name, say};
use oomscope_model::{Allocation, Bytes};
use oomscope_program::share::NOTABLE;

/// Lines of code and allocations that are named, at most.
const MAX_NAMED: usize = 10;

pub(super) fn find(assessment: &Assessment<'_>) -> Vec<Finding> {
    let case = assessment.case;
    holders(case).into_iter().chain(rise(case)).collect()
}

fn holders(case: &Case<'_>) -> Option<Finding> {
    let total = case.live.iter().map(|a| a.size).sum::<Bytes>();
    let stacks = case.live_stacks();
    let sites = case.code.sites(&stacks, Role::Live);
    let first = sites.first().filter(|site| 0 < site.bytes)?;
    let place = first.place();
    let unnamed = stacks.iter().filter(|row| case.code.lines(row.stack).is_empty());
    let unnamed = unnamed.map(|row| row.bytes).sum::<Bytes>();
    let part = |bytes| {
        say!(
            "{} of {} in use ({})",
            figure::bytes(bytes).of(total),
            figure::bytes(total),
            figure::share(bytes, total)
        )
    };
    let title = if first.bytes < unnamed {
        let largest = figure::bytes(first.bytes).of(total);
        say!(
            "{} have no line of your own code; the largest line is {} with {}",
            part(unnamed),
            name(place),
            largest
        )
    } else {
        say!("Largest line of code: {} with {}", name(place), part(first.bytes))
    };
    let mut finding = Finding::new(FindingId::TopContributors, Severity::Info, title);
    finding.explain_if(case.code.overlap(&stacks));
    let named: usize = sites.len().min(MAX_NAMED);
    let evidence = &mut finding.evidence;
    evidence.bytes("live_bytes", "in use, as requested", total);
    evidence.count("live_allocations", "allocations", case.live.len());
    evidence.count("lines", "lines of code that hold them", sites.len());
    if 0 < unnamed {
        evidence.part("without_own_code_bytes", "without a line of your own code", unnamed, total);
    }
    evidence.allocations = case.live.iter().take(MAX_NAMED).map(|a| a.id).collect();
    evidence.sites = sites.into_iter().take(named).collect();
    evidence.stacks = stacks.into_iter().take(MAX_STACKS).collect();
    if 0 < unnamed {
        finding.limit("The autograd engine allocates in threads of its own, where no Python line is known; so do C++ programs.");
    }
    Some(finding)
}

/// The memory that this iteration added to the older one.
fn rise(case: &Case<'_>) -> Option<Finding> {
    let start = case.iteration_start()?;
    let added: Vec<&Allocation> = case.live.iter().filter(|a| Some(start) <= a.alloc_event()).collect();
    let bytes = added.iter().map(|a| a.size).sum::<Bytes>();
    let before = case.live_bytes() - bytes;
    if bytes <= 0 || !NOTABLE.is_reached(before, case.live_bytes()) {
        return None;
    }
    let title =
        say!("This iteration added {} to the {} before it", figure::bytes(bytes), figure::bytes(before));
    let mut finding = Finding::new(FindingId::Rise, Severity::Info, title);
    let stacks = by_stack(added.iter().map(|a| (a.stack, a.size)));
    finding.evidence.event("iteration_start", "start of the iteration", start);
    finding.evidence.part("added_bytes", "allocated since, and in use", bytes, case.live_bytes());
    finding.evidence.bytes("before_bytes", "in use from before", before);
    let sites = case.code.sites(&stacks, Role::Live);
    finding.explain_if(case.code.overlap(&stacks));
    finding.evidence.sites = sites.into_iter().take(MAX_NAMED).collect();
    finding.evidence.allocations = added.iter().take(MAX_NAMED).map(|a| a.id).collect();
    Some(finding)
}
