//! The verdict about a request that failed.

use super::outside::{Basis, Outside};
use super::{Cause, growth, leak, simulated, words};
use crate::diagnosis::code::add_sites;
use crate::diagnosis::settings::is_on;
use crate::diagnosis::{Context, Finding, Role, Saving, Severity, Shortage, pins};
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
    match cause {
        Cause::Capacity => capacity(&mut finding, context, shortage),
        Cause::Fragmentation => fragmentation(&mut finding, context, shortage),
        Cause::SingleRequest => single_request(&mut finding, context, shortage),
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
        Cause::Outside(outside) => of_others(&mut finding, shortage, outside),
        Cause::Unknown => unknown(&mut finding, shortage),
    }
    if !matches!(cause, Cause::Leak | Cause::Growth) {
        places(&mut finding, context, shortage, cause);
    }
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
    words::capacity_advice(finding, context);
}

fn fragmentation(finding: &mut Finding, context: &Context<'_>, shortage: &Shortage) {
    let fit = &shortage.fit;
    let requested = units::bytes(shortage.oom.requested);
    finding.explain(super::kept_free(context));
    finding.explain(format!(
        "The bytes in use and the {requested} together are less than PyTorch could have, but {} of what is reserved are holes between blocks in use, and the largest that this request could take has {}.",
        units::percent(shortage.hole_bytes, shortage.reserved_bytes),
        units::bytes(fit.largest_bytes),
    ));
    if 0 < fit.other_bytes {
        finding.explain(format!(
            "{} of the holes belong to another pool, stream or size class, which this request must not use.",
            units::bytes(fit.other_bytes)
        ));
    }
    finding.explanation.extend(words::sizes(context, shortage));
    if is_on(context.snapshot, "expandable_segments") {
        finding.advise("Expandable segments are on already. Allocate what stays before what comes and goes, and keep request sizes constant (pad to a few lengths).");
    } else {
        let simulated = simulated::quote_expandable(finding, context, shortage);
        if simulated != Some(false) {
            finding.advise_code(
                "Let segments grow instead of adding new ones:",
                "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
            );
        }
        finding.advise("Keep sizes constant from step to step: pad to a few lengths, or run the largest batch first, so that later ones fit into its blocks.");
    }
    finding.advise("Move small results that stay to the CPU, or copy them into a tensor that is allocated once before the loop: the lines named here keep large segments from being reused.");
    finding.saving = Some(Saving {
        bytes: shortage.hole_bytes,
        formula: "bytes of the holes at this moment; an upper bound".to_owned(),
    });
    finding.confirm = Some(
        "Compare other settings without running again: oomscope simulate FILE --sweep. Then run again with the ones that fit: the run should get further."
            .to_owned(),
    );
    finding.limit("The blocks next to the holes are what keeps them apart at this moment; which request first split a segment is not told.");
}

fn single_request(finding: &mut Finding, context: &Context<'_>, shortage: &Shortage) {
    let (requested, active) = (shortage.oom.requested, shortage.active_bytes);
    let largest = context.live.first().map_or(0, |a| a.size);
    finding.explain(format!(
        "{} are in use{}, and the largest of them has {}.",
        units::bytes(active),
        words::with_rounding(context, shortage),
        units::bytes(largest),
    ));
    finding.evidence.bytes("largest_live_bytes", "largest allocation in use", largest);
    finding.advise("Look at the shape that the first line asks for: an N × N matrix (attention scores, pairwise distances), a broadcast that was not meant, a one-hot of a large vocabulary, or a wrong dimension.");
    finding.advise("Compute it in chunks, or with a fused operation that never holds it whole (F.scaled_dot_product_attention for attention; torch.cdist in blocks; a loop over slices).");
    finding.saving = Some(Saving { bytes: requested, formula: "the request itself".to_owned() });
    finding.confirm = Some("Print the shapes of the operands just before the line.".to_owned());
    finding.limit("The recording has the size of the request, not its shape.");
}

fn of_others(finding: &mut Finding, shortage: &Shortage, outside: Outside) {
    let bytes = units::bytes(outside.bytes);
    let available = shortage.available_bytes().map_or_else(String::new, units::bytes);
    finding.evidence.bytes("outside_bytes", "neither in PyTorch's pool nor free", outside.bytes);
    match outside.basis {
        Basis::Told => finding.explain(format!(
            "Of the device's memory, as it was given, PyTorch could have {available}; {bytes} are neither in its pool nor free."
        )),
        Basis::Earlier(at) => {
            let event = at.event().map_or_else(|| "Before the first event".to_owned(), |e| format!("After event {}", units::count(e.0)));
            finding.evidence.events.extend(at.event());
            finding.explain(format!(
                "{event} PyTorch had, or could have had, {bytes} more than the {available} at this moment. Something else on the device has taken them since."
            ));
        }
        Basis::Sizes(device) => {
            finding.explain(format!(
                "PyTorch could have {available} in all. No common GPU has so little; if it is one with {}, then {bytes} are held by something else.",
                units::bytes(device)
            ));
            finding.limit("The device's memory is not in the recording. A GPU slice (MIG, vGPU) of this size would explain it as well: give --capacity to be sure.");
        }
    }
    finding.advise_code("See who else uses the device while the job runs: other processes, a notebook that was left open, the display, or several ranks on one GPU.", "nvidia-smi");
    finding.advise("In the process itself, NCCL communicators, cuDNN and cuBLAS workspaces, CUDA graphs, other libraries (CuPy, RAPIDS, TensorRT, JAX) and a context on a device that is not meant (set_device before anything else) take memory that PyTorch does not count.");
    finding.saving = Some(Saving {
        bytes: outside.bytes,
        formula: "the device's memory - (reserved + free on the device)".to_owned(),
    });
    finding.confirm = Some(
        "Compare torch.cuda.mem_get_info() at the start of the program with the size of the device."
            .to_owned(),
    );
    finding.limit("A snapshot does not name what is outside of PyTorch's allocator.");
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
    if finding.evidence.stacks.is_empty() {
        finding.evidence.stacks.push(request);
        finding.evidence.stacks.extend(live.into_iter().take(MAX_STACKS));
        finding.evidence.allocations = context.live.iter().take(MAX_ALLOCATIONS).map(|a| a.id).collect();
    }
}
