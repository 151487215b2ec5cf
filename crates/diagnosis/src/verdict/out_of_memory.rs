//! The verdict about a request that failed.

use super::mark::mark;
use super::named::Named;
use super::{
    capacity, failed_attempt, failed_request, fragmentation, free_piece, growing_tensors, outside,
    single_request, uneven_ranks,
};
use crate::answered::Answered;
use crate::assessment::Assessment;
use crate::case::{Case, FreePiece, Shortage, add_sites, own_tree};
use crate::cause::{Cause, Outside, pieces};
use crate::figure;
use crate::finding::{Finding, MAX_ALLOCATIONS, MAX_SITES, MAX_STACKS, Role, Severity, Site, StackBytes};
use crate::rank_excess::RankExcess;
use crate::retained;
use crate::sentence::{Sentence, name, say};
use crate::words::Words;

/// The verdict about a request that failed for a cause, knowing what else was found, and the questions that were asked of that.
pub(super) fn out_of_memory(
    assessment: &Assessment<'_>,
    shortage: &Shortage,
    cause: &Cause,
    others: &[Finding],
) -> (Finding, Vec<Answered>) {
    let case = assessment.case;
    let is_too_small = matches!(cause, Cause::Capacity | Cause::SingleRequest);
    let (named, mut asked) =
        if is_too_small { Named::among(case, shortage, others) } else { (None, Vec::new()) };
    let least = uneven_ranks::least_bytes(shortage, cause, named.as_ref());
    let among = uneven_ranks::ask(case, shortage, least);
    let is_uneven = among.as_ref().is_some_and(|answered| answered.is_yes);
    asked.extend(among);
    let (cause, named) = if is_uneven { (&Cause::UnevenRanks, None) } else { (cause, named) };
    let is_unknown = matches!(cause, Cause::Unknown | Cause::FreePiece(FreePiece::Unused { .. }));
    let severity = if is_unknown { Severity::Warning } else { Severity::Critical };
    let mut finding = Finding::new(cause.id(), severity, "");
    finding.uneven_from_bytes = least;
    failed_request::explain(&mut finding, case, shortage);
    figures(&mut finding, case, shortage);
    if let Some(pieces) = pieces(case, shortage) {
        failed_request::explain_pieces(&mut finding, case, pieces);
    }
    if !cause.is_leak() {
        failed_request::explain_extension(&mut finding, case, shortage);
    }
    describe(&mut finding, assessment, shortage, cause);
    if let Some(named) = &named {
        named.describe(&mut finding, shortage, cause);
    }
    let named = named.filter(|named| named.says_more_than(cause));
    let site = places(&mut finding, assessment, shortage, cause, named.as_ref());
    finding.title = title(assessment, shortage, cause, named.as_ref(), site.as_ref());
    mark(&mut finding, assessment, shortage, cause, named.as_ref(), site.as_ref());
    if shortage.free_bytes().is_none() {
        finding.limit("The recording does not state what the device had left, so its capacity is unknown.");
    }
    (finding, asked)
}

fn describe(finding: &mut Finding, assessment: &Assessment<'_>, shortage: &Shortage, cause: &Cause) {
    let case = assessment.case;
    match cause {
        Cause::Capacity => capacity::describe(finding, assessment, shortage),
        Cause::FreePiece(piece) => free_piece::describe(finding, case, shortage, piece),
        Cause::Fragmentation(simulated) => {
            fragmentation::describe(finding, assessment, shortage, *simulated);
        }
        Cause::SingleRequest => single_request::describe(finding, case, shortage),
        Cause::FailedAttempts => {
            if let Some(failed) = &assessment.failed {
                failed_attempt::describe(finding, case, failed);
            }
        }
        Cause::Retained => {
            if let Some(retained) = &assessment.retained {
                retained::describe(finding, case, retained);
            }
        }
        Cause::GrowingTensors => {
            if let Some(growing) = &assessment.growing {
                growing_tensors::describe(finding, case, growing);
            }
        }
        Cause::UnevenRanks => {
            if let Some(excess) = case.ranks {
                uneven_ranks::describe(finding, shortage, excess);
            }
        }
        Cause::Outside(outside) => outside::describe(finding, case.words, shortage, *outside),
        Cause::Unknown => unknown(finding, case.words, shortage),
    }
}

/// What failed, for which memory, and by which line.
fn title(
    assessment: &Assessment<'_>,
    shortage: &Shortage,
    cause: &Cause,
    named: Option<&Named<'_>>,
    site: Option<&Site>,
) -> Sentence {
    let case = assessment.case;
    let at = site.map(|site| say!(" ({})", name(site.place())));
    if let Some(named) = named {
        return say!("Out of memory: {}{}", named.title(), at);
    }
    match cause {
        Cause::Capacity => capacity::title(case, shortage),
        Cause::FreePiece(piece) => free_piece::title(shortage, piece, site),
        Cause::Fragmentation(_) => fragmentation::title(shortage, site),
        Cause::SingleRequest => say!("Out of memory: {}{}", single_request::title(shortage), at),
        Cause::FailedAttempts | Cause::Retained | Cause::GrowingTensors => {
            let what = match cause {
                Cause::FailedAttempts => assessment.failed.as_ref().map(failed_attempt::title),
                Cause::Retained => assessment.retained.as_ref().map(retained::title),
                _ => assessment.growing.as_ref().map(growing_tensors::title),
            };
            let is_sure = *cause != Cause::Retained
                || assessment.retained.as_ref().is_none_or(|retained| !retained.may_be_one_step());
            say!("Out of memory{}: {}{}", if is_sure { " due to a leak" } else { "" }, what, at)
        }
        Cause::UnevenRanks => case.ranks.map(RankExcess::title).into(),
        Cause::Outside(Outside { bytes, .. }) => say!(
            "Out of memory: {} of the device are held outside of PyTorch's allocator",
            figure::bytes(*bytes)
        ),
        Cause::Unknown => {
            let what = if case.state.total.reserved_bytes == 0 { "nothing" } else { "not all" };
            say!(
                "Out of memory at a request of {}; why cannot be told, since {} of the memory is in the file",
                figure::bytes(shortage.oom.requested),
                what
            )
        }
    }
}

/// Add the figures of the request and of the memory that there was, each byte of which is in one part.
fn figures(finding: &mut Finding, case: &Case<'_>, shortage: &Shortage) {
    let evidence = &mut finding.evidence;
    evidence.event("event", "failed request", shortage.oom.event);
    evidence.bytes("requested_bytes", "requested", shortage.oom.requested);
    evidence.bytes("needed_bytes", "needed from the device", shortage.needed_bytes);
    let reserved = shortage.reserved_bytes;
    evidence.bytes("reserved_bytes", "reserved by PyTorch", reserved);
    evidence.part("active_bytes", "active", shortage.active_bytes, reserved);
    let rounding = case.state.total.rounding_bytes();
    let parts = [
        ("rounding_bytes", "of it rounding", rounding, shortage.active_bytes),
        ("awaiting_bytes", "of it waiting for a stream", shortage.awaiting_bytes, shortage.active_bytes),
        ("hole_bytes", "reserved and free", shortage.hole_bytes, reserved),
        (
            "free_here_bytes",
            "of it for the request's pool and stream",
            shortage.fit.hole_bytes,
            shortage.hole_bytes,
        ),
        ("other_pool_bytes", "of it for another pool", shortage.other_pool_bytes, shortage.hole_bytes),
        ("other_stream_bytes", "of it for another stream", shortage.other_stream_bytes, shortage.hole_bytes),
    ];
    for (key, label, bytes, whole) in parts.into_iter().filter(|(_, _, bytes, _)| 0 < *bytes) {
        evidence.part(key, label, bytes, whole);
    }
    let largest = shortage.fit.largest_bytes;
    evidence.part("largest_hole_bytes", "largest hole for the request", largest, shortage.hole_bytes);
    evidence.largest_hole_of = Some(shortage.fit.key());
    if let Some(free) = shortage.free_bytes() {
        evidence.bytes("device_free_bytes", "free on the device", free);
    }
    if let Some(available) = shortage.available_bytes() {
        evidence.bytes("available_bytes", "reserved and free on the device together", available);
        let outside = case.device_memory.map(|device| device - available);
        if let Some(outside) = outside.filter(|outside| 0 <= *outside) {
            evidence.bytes("outside_bytes", "neither in PyTorch's pool nor free", outside);
        }
    }
    if let Some(excess) = shortage.excess_bytes() {
        let label =
            if excess <= 0 { "room left if there were no holes" } else { "too much, even without holes" };
        let key = if excess <= 0 { "room_bytes" } else { "excess_bytes" };
        evidence.bytes(key, label, excess.abs());
    }
}

fn unknown(finding: &mut Finding, words: Words, shortage: &Shortage) {
    let code = failed_request::record_on_oom(words);
    finding.advise_code("Record again, and dump in the moment of the failure:", code);
    if !shortage.is_complete {
        finding.limit("The end of the file is missing, so memory from before the recording is unknown.");
    }
}

/// Name the lines to look at: that of the cause, which is returned, those that asked, and those that hold memory.
fn places(
    finding: &mut Finding,
    assessment: &Assessment<'_>,
    shortage: &Shortage,
    cause: &Cause,
    named: Option<&Named<'_>>,
) -> Option<Site> {
    let case = assessment.case;
    let code = &case.code;
    let stack = failed_request::request_stack(case, shortage);
    let request = StackBytes { stack, bytes: shortage.oom.requested, count: 1 };
    let asked = code.sites(&[request], Role::Requested);
    if cause.is_leak() {
        return retained_places(finding, assessment, cause, asked);
    }
    let live = case.live_stacks();
    let first = match (cause, named) {
        (_, Some(named)) => named.site(case, &asked).into_iter().collect(),
        (Cause::Capacity, None) => capacity::site(case, shortage).into_iter().collect(),
        (Cause::FreePiece(piece), None) => free_piece::sites(case, shortage, piece),
        (Cause::Fragmentation(_), None) => code.sites(&assessment.pinning.stacks, Role::KeepsFree),
        (Cause::SingleRequest, None) => asked.clone(),
        (Cause::UnevenRanks, None) => {
            case.ranks.map_or_else(Vec::new, |excess| uneven_ranks::sites(case, excess))
        }
        _ => Vec::new(),
    };
    let site = first.first().cloned();
    let mut sites = Vec::new();
    add_sites(&mut sites, first, MAX_SITES / 2);
    add_sites(&mut sites, asked, MAX_SITES);
    if let Cause::Fragmentation(_) = cause {
        let pinning = &assessment.pinning;
        finding.evidence.stacks.extend(pinning.stacks.iter().take(MAX_STACKS).copied());
        finding.evidence.about(pinning.blocks.iter().copied());
        finding.evidence.tree =
            Some(own_tree(code, "Free memory that blocks keep", Role::KeepsFree, &pinning.stacks));
    } else {
        add_sites(&mut sites, code.sites(&live, Role::Live), MAX_SITES);
        finding.evidence.tree = Some(own_tree(code, "In use", Role::Live, &live));
    }
    finding.evidence.sites = sites;
    if *cause == Cause::Capacity && named.is_none() {
        capacity::name_caller(finding, case);
    }
    if finding.evidence.stacks.is_empty() {
        finding.evidence.stacks.push(request);
        finding.evidence.stacks.extend(live.into_iter().take(MAX_STACKS));
        finding.evidence.allocations = case.live.iter().take(MAX_ALLOCATIONS).map(|a| a.id).collect();
    }
    site
}

/// The lines of a leak. The retained memory matters more than the request that happened to fail.
fn retained_places(
    finding: &mut Finding,
    assessment: &Assessment<'_>,
    cause: &Cause,
    asked: Vec<Site>,
) -> Option<Site> {
    let stacks = match (cause, &assessment.failed, &assessment.retained, &assessment.growing) {
        (Cause::FailedAttempts, Some(failed), ..) => &failed.stacks,
        (Cause::Retained, _, Some(retained), _) => &retained.stacks,
        (_, _, _, Some(growing)) => &growing.stacks,
        _ => return None,
    };
    finding.evidence.tree = Some(own_tree(&assessment.case.code, "Kept", Role::Retained, stacks));
    let sites = &mut finding.evidence.sites;
    sites.truncate(MAX_SITES - 1);
    let site = sites.first().cloned();
    add_sites(sites, asked, MAX_SITES);
    site
}
