//! The verdict: why memory ran out, in one of six words.
//!
//! The order of the questions matters. Memory that stays from one iteration to the next explains any
//! full device, so it comes first. Then: would the request have fitted if what is reserved had no
//! holes? If so, and holes are a good part of it, it is fragmentation. What is left is too little
//! memory, for one of three reasons.

mod amount;
mod fragmentation;
mod growth;
mod leak;
mod nothing;
mod other_than_kept;
mod out_of_memory;
mod outside;
mod simulated;
mod single;
mod words;

use super::{Context, Finding, Kept, Severity, Shortage, pins};
use crate::units;
pub(super) use leak::describe as describe_leak;
use nothing::nothing_failed;
use out_of_memory::out_of_memory;
use outside::{Outside, outside};

/// Holes must be this share of what is reserved to be the reason.
const HOLES_SHARE: f64 = 0.25;

/// This share is enough where the holes together are as large as the request.
const LARGE_HOLES_SHARE: f64 = 0.15;

/// What stays must be this share of what is reserved to be the reason.
const LEAK_SHARE: f64 = 0.1;

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// The program needs more than there is.
    Capacity,
    /// There would be enough if it were in one piece.
    Fragmentation,
    /// One request is out of all proportion.
    SingleRequest,
    /// Memory stays from iteration to iteration.
    Leak,
    /// A tensor gets larger in every iteration.
    Growth,
    /// Something else holds the device's memory.
    Outside(Outside),
    /// The file does not tell.
    Unknown,
}

impl Cause {
    fn id(self) -> &'static str {
        match self {
            Self::Capacity => "capacity",
            Self::Fragmentation => "fragmentation",
            Self::SingleRequest => "single-request",
            Self::Leak | Self::Growth => "leak",
            Self::Outside(_) => "outside-pytorch",
            Self::Unknown => "none",
        }
    }
}

/// Without an OOM, a graph that is kept must be this share of what is in use to be wrong.
const GRAPH_SHARE: f64 = 0.25;

/// Whether the verdict is fragmentation.
pub(super) fn is_fragmentation(context: &Context<'_>) -> bool {
    context.shortage.as_ref().is_some_and(|shortage| cause(context, shortage) == Cause::Fragmentation)
}

/// Whether all of what is in use is too much, not one request, a leak or something else.
pub(super) fn is_by_amount(context: &Context<'_>) -> bool {
    let causes = |shortage| matches!(cause(context, shortage), Cause::Capacity | Cause::Outside(_));
    context.shortage.as_ref().is_some_and(causes)
}

/// How little keeps how much.
pub(super) fn kept_free(context: &Context<'_>) -> String {
    let (bytes, rows) = pins::kept_holes(context);
    let blocks = pins::blocks(context, usize::MAX);
    let held = blocks.iter().fold(0i64, |sum, &id| sum.saturating_add(context.allocation(id).size));
    format!(
        "{} in {} blocks keep {} of free memory in {} segments.",
        units::bytes(held),
        units::count(blocks.len() as u64),
        units::bytes(bytes),
        units::count(rows as u64)
    )
}

/// Whether the verdict is a leak.
pub(super) fn is_leak(context: &Context<'_>) -> bool {
    match &context.shortage {
        Some(shortage) => matches!(cause(context, shortage), Cause::Leak | Cause::Growth),
        None => kept_graph(context).is_some(),
    }
}

/// A graph that is kept although nothing has failed yet.
fn kept_graph<'a>(context: &'a Context<'_>) -> Option<&'a Kept> {
    let is_much = |kept: &&Kept| GRAPH_SHARE <= Context::share(kept.bytes, context.live_bytes());
    context.kept.as_ref().filter(|kept| kept.is_graph()).filter(is_much)
}

/// The verdict about the moment.
pub(super) fn verdict(context: &Context<'_>) -> Finding {
    match &context.shortage {
        Some(shortage) => out_of_memory(context, shortage, cause(context, shortage)),
        None => kept_graph(context).map_or_else(|| nothing_failed(context), |kept| leaking(context, kept)),
    }
}

/// Several detectors ask.
fn cause(context: &Context<'_>, shortage: &Shortage) -> Cause {
    *context.cause.get_or_init(|| find_cause(context, shortage))
}

fn find_cause(context: &Context<'_>, shortage: &Shortage) -> Cause {
    let Some(excess) = shortage.excess_bytes().filter(|_| shortage.is_complete) else {
        return Cause::Unknown;
    };
    let holes = Context::share(shortage.hole_bytes, shortage.reserved_bytes);
    let is_large = shortage.oom.requested <= shortage.hole_bytes && LARGE_HOLES_SHARE <= holes;
    let is_cut_up = excess <= 0 && (HOLES_SHARE <= holes || is_large);
    let explains = |kept: &Kept| {
        excess <= kept.bytes
            && LEAK_SHARE <= Context::share(kept.bytes, shortage.reserved_bytes)
            && !(is_cut_up && kept.bytes <= shortage.hole_bytes)
            && !other_than_kept::comes_first(context, shortage, kept)
    };
    if context.kept.as_ref().is_some_and(explains) {
        return Cause::Leak;
    }
    let grown = context.growing.as_ref().map_or(0, |growing| growing.grown_bytes);
    if excess <= grown && LEAK_SHARE <= Context::share(grown, shortage.reserved_bytes) {
        return Cause::Growth;
    }
    if is_cut_up {
        return Cause::Fragmentation;
    }
    let outside = outside(context, shortage).filter(|outside| excess <= outside.bytes);
    let available = shortage.available_bytes().unwrap_or(shortage.reserved_bytes);
    let could_have = available.saturating_add(outside.map_or(0, |outside| outside.bytes));
    match outside {
        _ if is_out_of_proportion(context, shortage, could_have) => Cause::SingleRequest,
        Some(outside) => Cause::Outside(outside),
        None => Cause::Capacity,
    }
}

/// Whether one request, or a few of its size, would be most of the device.
fn is_out_of_proportion(context: &Context<'_>, shortage: &Shortage, available: i64) -> bool {
    let requested = shortage.oom.requested;
    if available / 2 <= requested {
        return true;
    }
    let smaller = context.live.iter().map(|a| a.size).filter(|&size| size < requested / 2);
    available / 4 <= requested && smaller.fold(0, i64::saturating_add) <= requested / 2
}

/// Nothing has failed, but the memory of earlier iterations piles up.
fn leaking(context: &Context<'_>, kept: &Kept) -> Finding {
    let mut finding = Finding::new("leak", Severity::Warning, format!("A leak: {}", leak::title(kept)));
    leak::describe(&mut finding, context, kept);
    finding
}
