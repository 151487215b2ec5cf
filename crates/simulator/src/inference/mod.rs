//! Inferring what a recording leaves open, by comparing simulations with it.

mod device;
mod open_requests;
mod range_length;

pub(super) use device::device;
pub(super) use open_requests::decide_open_requests;
pub(super) use range_length::with_total_memory;

use super::settings::TieBreak;
use oomscope_model::Timeline;

/// The order among equally large blocks in the version of torch, by what it writes: pools came to the events a little
/// earlier than the order changed.
pub(super) fn tie_break(timeline: &Timeline) -> TieBreak {
    let has_pools = timeline.events.contexts().iter().any(|context| context.pool.is_some());
    if has_pools { TieBreak::Creation } else { TieBreak::Address }
}
