//! The verdict about a request that failed.

use super::other_than_kept::pieces;
use super::outside::{self, Basis, Outside};
use super::{Cause, amount, fragmentation, growth, leak, single, words};
use crate::diagnosis::code::add_sites;
use crate::diagnosis::{Context, Finding, Role, Severity, Shortage, pins};
use crate::units;

/// Lines of code that are named.
const MAX_SITES: usize = 8;

/// Stacks that are shown whole.
const MAX_STACKS: usize = 3;

/// Allocations that are named.
const MAX_ALLOCATIONS: usize = 10;

pub(super) fn out_of_memory(context: &Context<'_>, shortage: &Shortage, cause: Cause) -> Finding {
    let severity = if cause == Cause::Unknown { Severity::Warning } else { Severity::Critical };
    let mut finding = Finding::new(cause.id(), severity, title(context, shortage, cause));
    words::what_happened(&mut finding, context, shortage);
    figures(&mut finding, shortage);
    if let Some(row) = pieces(context, shortage) {
        words::put_together(&mut finding, context, row);
    }
    match cause {
        Cause::Capacity => capacity(&mut finding, context, shortage),
        Cause::Fragmentation => fragmentation::describe(&mut finding, context, shortage),
        Cause::SingleRequest => single::describe(&mut finding, context, shortage),
        Cause::Leak => {
            if let Some(kept) = &context.kept {
                leak::describe(&mut finding, context, kept);
            }
        }
        Cause::Growth => {
            if let Some(growing) = &context.growing {
                growth::describe(&mut finding, context, growing);
            }
        }
        Cause::Outside(outside) => outside::describe(&mut finding, shortage, outside),
        Cause::Unknown => unknown(&mut finding, shortage),
    }
    places(&mut finding, context, shortage, cause);
    if shortage.free_bytes().is_none() {
        finding.limit("The recording does not state what the device had left, so its capacity is unknown.");
    }
    finding
}

fn title(context: &Context<'_>, shortage: &Shortage, cause: Cause) -> String {
    let requested = units::bytes(shortage.oom.requested);
    match cause {
        Cause::Capacity => capacity_title(context, shortage),
        Cause::Fragmentation => {
            let holes = units::bytes(shortage.hole_bytes);
            format!("Out of memory by fragmentation: {requested} requested while {holes} lay free in pieces")
        }
        Cause::SingleRequest => {
            let available = shortage.available_bytes().unwrap_or(shortage.reserved_bytes);
            let share = Context::share(shortage.oom.requested, available);
            if 1.0 < share {
                format!(
                    "Out of memory: one request of {requested} is larger than all that PyTorch could have"
                )
            } else {
                format!(
                    "Out of memory: one request of {requested} is {:.0} % of what PyTorch could have",
                    share * 100.0
                )
            }
        }
        Cause::Leak => {
            let what = context.kept.as_ref().map_or_else(String::new, leak::title);
            format!("Out of memory by a leak: {what}")
        }
        Cause::Growth => {
            let what = context.growing.as_ref().map_or_else(String::new, growth::title);
            format!("Out of memory by a leak: {what}")
        }
        Cause::Outside(Outside { bytes, basis }) => {
            let bytes = units::bytes(bytes);
            let likely = if matches!(basis, Basis::Sizes(_)) { "probably " } else { "" };
            format!("Out of memory: {likely}{bytes} of the device are held outside of PyTorch's allocator")
        }
        Cause::Unknown => {
            let what = if context.state.total.reserved_bytes == 0 { "nothing" } else { "not all" };
            format!(
                "Out of memory at a request of {requested}; why cannot be told, since {what} of the memory is in the file"
            )
        }
    }
}

/// What is too much; or, where the bytes alone would do, what is missing.
fn capacity_title(context: &Context<'_>, shortage: &Shortage) -> String {
    let requested = units::bytes(shortage.oom.requested);
    let rounding = words::with_rounding(context, shortage);
    let active = units::bytes(shortage.active_bytes);
    let had = if shortage.is_refused_by_limit() { None } else { shortage.available_bytes() };
    let had = units::bytes(had.unwrap_or(shortage.reserved_bytes));
    if shortage.excess_bytes().is_none_or(|excess| 0 < excess) {
        format!("Out of memory: {active} in use{rounding} and {requested} more are too much for the device")
    } else {
        format!("Out of memory: {active} of {had} are in use{rounding}, and no piece of {requested} is left")
    }
}

fn figures(finding: &mut Finding, shortage: &Shortage) {
    let evidence = &mut finding.evidence;
    evidence.event("event", "failed request", shortage.oom.event);
    evidence.bytes("requested_bytes", "requested", shortage.oom.requested);
    evidence.bytes("needed_bytes", "needed from the device", shortage.needed_bytes);
    if let Some(free) = shortage.free_bytes() {
        evidence.bytes("device_free_bytes", "free on the device", free);
    }
    evidence.bytes("reserved_bytes", "reserved by PyTorch", shortage.reserved_bytes);
    evidence.bytes("active_bytes", "in use, with rounding", shortage.active_bytes);
    if 0 < shortage.awaiting_bytes {
        evidence.bytes("awaiting_bytes", "waiting for a stream", shortage.awaiting_bytes);
    }
    evidence.bytes("hole_bytes", "reserved and free", shortage.hole_bytes);
    evidence.bytes("largest_hole_bytes", "largest hole for the request", shortage.fit.largest_bytes);
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

fn capacity(finding: &mut Finding, context: &Context<'_>, shortage: &Shortage) {
    let excess = shortage.excess_bytes().unwrap_or(0);
    let requested = units::bytes(shortage.oom.requested);
    if 0 < excess {
        finding.explain(format!(
            "Even if what is reserved had no holes, {} less would have to be in use at this moment for the {requested} to fit.",
            units::bytes(excess),
        ));
    } else {
        finding.explain(format!(
            "Without any hole the request would just have fitted, but only {} of what is reserved are free: the device is full.",
            units::percent(shortage.hole_bytes, shortage.reserved_bytes),
        ));
    }
    amount::advice(finding, context, shortage);
}

fn unknown(finding: &mut Finding, shortage: &Shortage) {
    finding.advise_code("Record again, and dump in the moment of the failure:", super::words::RECORD_ON_OOM);
    if !shortage.is_complete {
        finding.limit("The end of the file is missing, so memory from before the recording is unknown.");
    }
}

/// The lines to look at: who asked, and who holds.
fn places(finding: &mut Finding, context: &Context<'_>, shortage: &Shortage, cause: Cause) {
    let code = &context.code;
    let stack = words::request_stack(context, shortage);
    let request = crate::diagnosis::StackBytes { stack, bytes: shortage.oom.requested, count: 1 };
    let asked = code.sites(&[request], Role::Requested);
    if matches!(cause, Cause::Leak | Cause::Growth) {
        // What stays matters more than who asked last.
        let sites = &mut finding.evidence.sites;
        sites.truncate(MAX_SITES - 1);
        add_sites(sites, asked, MAX_SITES);
        return;
    }
    let live = context.live_stacks();
    let held = code.sites(&live, Role::Live);
    let mut sites = Vec::new();
    match cause {
        Cause::Fragmentation => {
            let pinning = pins::pinning(context);
            add_sites(&mut sites, code.sites(&pinning, Role::KeepsFree), MAX_SITES / 2);
            finding.evidence.stacks.extend(pinning.into_iter().take(MAX_STACKS));
            finding.evidence.allocations = pins::blocks(context, MAX_ALLOCATIONS);
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
    if cause == Cause::Capacity {
        amount::call(finding, context, MAX_SITES);
    }
    if finding.evidence.stacks.is_empty() {
        finding.evidence.stacks.push(request);
        finding.evidence.stacks.extend(live.into_iter().take(MAX_STACKS));
        finding.evidence.allocations = context.live.iter().take(MAX_ALLOCATIONS).map(|a| a.id).collect();
    }
}
