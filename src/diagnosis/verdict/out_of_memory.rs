//! The verdict about a request that failed.

use super::{
    capacity, failed_attempt, failed_request, fragmentation, free_piece, growing_tensors, outside,
    single_request,
};
use crate::diagnosis::assessment::Assessment;
use crate::diagnosis::case::{FreePiece, Shortage, add_sites, own_tree};
use crate::diagnosis::cause::{Cause, Outside, pieces};
use crate::diagnosis::figure;
use crate::diagnosis::finding::{
    Finding, MAX_ALLOCATIONS, MAX_SITES, MAX_STACKS, Role, Severity, StackBytes,
};
use crate::diagnosis::retained;
use crate::diagnosis::sentence::{Sentence, say};
use crate::diagnosis::words::Words;

/// The verdict about a request that failed for a cause.
pub(super) fn out_of_memory(assessment: &Assessment<'_>, shortage: &Shortage, cause: Cause) -> Finding {
    let case = assessment.case;
    let is_unknown = matches!(cause, Cause::Unknown | Cause::FreePiece(FreePiece::Unused { .. }));
    let severity = if is_unknown { Severity::Warning } else { Severity::Critical };
    let mut finding = Finding::new(cause.id(), severity, title(assessment, shortage, cause));
    failed_request::explain(&mut finding, case, shortage);
    figures(&mut finding, shortage);
    if let Some(pieces) = pieces(case, shortage) {
        failed_request::explain_pieces(&mut finding, case, pieces);
    }
    if !cause.is_leak() {
        failed_request::explain_extension(&mut finding, case, shortage);
    }
    match cause {
        Cause::Capacity => capacity::describe(&mut finding, assessment, shortage),
        Cause::FreePiece(piece) => free_piece::describe(&mut finding, case, shortage, piece),
        Cause::Fragmentation(simulated) => {
            fragmentation::describe(&mut finding, assessment, shortage, simulated);
        }
        Cause::SingleRequest => single_request::describe(&mut finding, case, shortage),
        Cause::FailedAttempts => {
            if let Some(failed) = &assessment.failed {
                failed_attempt::describe(&mut finding, case, failed);
            }
        }
        Cause::Retained => {
            if let Some(retained) = &assessment.retained {
                retained::describe(&mut finding, case, retained);
            }
        }
        Cause::GrowingTensors => {
            if let Some(growing) = &assessment.growing {
                growing_tensors::describe(&mut finding, case, growing);
            }
        }
        Cause::Outside(outside) => outside::describe(&mut finding, case.words, shortage, outside),
        Cause::Unknown => unknown(&mut finding, case.words, shortage),
    }
    places(&mut finding, assessment, shortage, cause);
    if shortage.free_bytes().is_none() {
        finding.limit("The recording does not state what the device had left, so its capacity is unknown.");
    }
    finding
}

fn title(assessment: &Assessment<'_>, shortage: &Shortage, cause: Cause) -> Sentence {
    let case = assessment.case;
    let requested = figure::bytes(shortage.oom.requested);
    match cause {
        Cause::Capacity => capacity::title(case, shortage),
        Cause::FreePiece(piece) => free_piece::title(shortage, piece),
        Cause::Fragmentation(_) => {
            let holes = figure::bytes(shortage.hole_bytes).of(shortage.reserved_bytes);
            say!(
                "Out of memory due to fragmentation: {} requested while {} lay free in pieces",
                requested,
                holes
            )
        }
        Cause::SingleRequest => {
            let available = shortage.available_bytes().unwrap_or(shortage.reserved_bytes);
            if available < shortage.oom.requested {
                say!("Out of memory: one request of {} is larger than all that PyTorch could have", requested)
            } else {
                say!(
                    "Out of memory: one request of {} is {} of what PyTorch could have",
                    requested,
                    figure::share(shortage.oom.requested, available)
                )
            }
        }
        Cause::FailedAttempts | Cause::Retained | Cause::GrowingTensors => {
            let what = match cause {
                Cause::FailedAttempts => assessment.failed.as_ref().map(failed_attempt::title),
                Cause::Retained => assessment.retained.as_ref().map(retained::title),
                _ => assessment.growing.as_ref().map(growing_tensors::title),
            };
            let is_sure = cause != Cause::Retained
                || assessment.retained.as_ref().is_none_or(|retained| !retained.may_be_one_step());
            say!("Out of memory{}: {}", if is_sure { " due to a leak" } else { "" }, what)
        }
        Cause::Outside(Outside { bytes, .. }) => say!(
            "Out of memory: {} of the device are held outside of PyTorch's allocator",
            figure::bytes(bytes)
        ),
        Cause::Unknown => {
            let what = if case.state.total.reserved_bytes == 0 { "nothing" } else { "not all" };
            say!(
                "Out of memory at a request of {}; why cannot be told, since {} of the memory is in the file",
                requested,
                what
            )
        }
    }
}

/// Add the figures of the request and of the memory that there was.
fn figures(finding: &mut Finding, shortage: &Shortage) {
    let evidence = &mut finding.evidence;
    evidence.event("event", "failed request", shortage.oom.event);
    evidence.bytes("requested_bytes", "requested", shortage.oom.requested);
    evidence.bytes("needed_bytes", "needed from the device", shortage.needed_bytes);
    if let Some(free) = shortage.free_bytes() {
        evidence.bytes("device_free_bytes", "free on the device", free);
    }
    evidence.bytes("reserved_bytes", "reserved by PyTorch", shortage.reserved_bytes);
    let reserved = shortage.reserved_bytes;
    evidence.part("active_bytes", "in use, with rounding", shortage.active_bytes, reserved);
    if 0 < shortage.awaiting_bytes {
        evidence.part(
            "awaiting_bytes",
            "waiting for a stream",
            shortage.awaiting_bytes,
            shortage.active_bytes,
        );
    }
    evidence.part("hole_bytes", "reserved and free", shortage.hole_bytes, reserved);
    let largest = shortage.fit.largest_bytes;
    evidence.part("largest_hole_bytes", "largest hole for the request", largest, shortage.hole_bytes);
    evidence.largest_hole_of = Some(shortage.fit.key());
    if let Some(available) = shortage.available_bytes() {
        evidence.bytes("available_bytes", "reserved and free on the device together", available);
    }
    if let Some(excess) = shortage.excess_bytes() {
        let label =
            if excess <= 0 { "room left if there were no holes" } else { "too much, even without holes" };
        let key = if excess <= 0 { "room_bytes" } else { "excess_bytes" };
        evidence.bytes(key, label, excess.saturating_abs());
    }
}

fn unknown(finding: &mut Finding, words: Words, shortage: &Shortage) {
    let code = failed_request::record_on_oom(words);
    finding.advise_code("Record again, and dump in the moment of the failure:", code);
    if !shortage.is_complete {
        finding.limit("The end of the file is missing, so memory from before the recording is unknown.");
    }
}

/// Name the lines to look at: those that asked, and those that hold memory.
fn places(finding: &mut Finding, assessment: &Assessment<'_>, shortage: &Shortage, cause: Cause) {
    let case = assessment.case;
    let code = &case.code;
    let stack = failed_request::request_stack(case, shortage);
    let request = StackBytes { stack, bytes: shortage.oom.requested, count: 1 };
    let asked = code.sites(&[request], Role::Requested);
    if cause.is_leak() {
        let stacks = match (cause, &assessment.failed, &assessment.retained, &assessment.growing) {
            (Cause::FailedAttempts, Some(failed), ..) => &failed.stacks,
            (Cause::Retained, _, Some(retained), _) => &retained.stacks,
            (_, _, _, Some(growing)) => &growing.stacks,
            _ => return,
        };
        finding.evidence.tree = Some(own_tree(code, "Kept", Role::Retained, stacks));
        // The retained memory matters more than the request that happened to fail.
        let sites = &mut finding.evidence.sites;
        sites.truncate(MAX_SITES - 1);
        add_sites(sites, asked, MAX_SITES);
        return;
    }
    let live = case.live_stacks();
    let held = code.sites(&live, Role::Live);
    let mut sites = Vec::new();
    match cause {
        Cause::Fragmentation(_) => {
            let pinning = &assessment.pinning;
            add_sites(&mut sites, code.sites(&pinning.stacks, Role::KeepsFree), MAX_SITES / 2);
            finding.evidence.stacks.extend(pinning.stacks.iter().take(MAX_STACKS).copied());
            finding.evidence.about(pinning.blocks.iter().copied());
            add_sites(&mut sites, asked, MAX_SITES);
        }
        Cause::SingleRequest => {
            add_sites(&mut sites, asked, MAX_SITES);
            add_sites(&mut sites, held, MAX_SITES / 2);
        }
        _ => {
            add_sites(&mut sites, asked, MAX_SITES);
            add_sites(&mut sites, held, MAX_SITES);
        }
    }
    finding.evidence.sites = sites;
    finding.evidence.tree = Some(match cause {
        Cause::Fragmentation(_) => {
            own_tree(code, "Free memory that blocks keep", Role::KeepsFree, &assessment.pinning.stacks)
        }
        _ => own_tree(code, "In use", Role::Live, &live),
    });
    if cause == Cause::Capacity {
        capacity::name_caller(finding, case);
    }
    if finding.evidence.stacks.is_empty() {
        finding.evidence.stacks.push(request);
        finding.evidence.stacks.extend(live.into_iter().take(MAX_STACKS));
        finding.evidence.allocations = case.live.iter().take(MAX_ALLOCATIONS).map(|a| a.id).collect();
    }
}
