//! Where the allocator puts what a program asks for that ran without a device.
//!
//! Such a file has requests alone: each allocation has an address of its own, and there are no segments. They go through the
//! allocator from its beginning, with as much memory as they want, and the snapshot becomes what torch would have recorded.

mod device;
mod error;
mod facts;
mod live;
#[cfg(test)]
mod tests;
mod trace;

pub use error::LayOutError;
pub use facts::note_needed;

use crate::allocator::Counters;
use crate::settings::Settings;
use device::Laid;
use live::Moved;
use oomscope_model::{Action, Anchor, DeviceId, Recording, Snapshot, StrId, Timeline, TimelineInput, Why};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The action by which a program's call of `torch.cuda.empty_cache()` is written down among its requests.
const EMPTY_CACHE: &[u8] = b"empty_cache";

/// A snapshot with what the allocator did.
#[derive(Debug)]
pub struct LaidOut {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// What the allocator counted on each device.
    pub counters: Vec<(DeviceId, Counters)>,
}

/// Lay out the requests of an estimate. Nobody else may use the snapshot.
///
/// # Errors
/// If it is no estimate, is damaged, was laid out before, or asks for what no device has.
pub fn lay_out(snapshot: Arc<Snapshot>) -> Result<LaidOut, LayOutError> {
    if !snapshot.is_estimate() {
        return Err(LayOutError::NoEstimate);
    }
    if snapshot.damage.is_some() {
        return Err(LayOutError::Damaged);
    }
    if snapshot.timelines.iter().any(|timeline| timeline.trust.whys().contains(&Why::LeftOut)) {
        return Err(LayOutError::LeftOut);
    }
    let mut snapshot = Arc::into_inner(snapshot).ok_or(LayOutError::InUse)?;
    // Before anything is laid out: the settings decide where.
    snapshot.settings = Settings::stated(&snapshot);
    let snapshot = Arc::new(snapshot);
    let empties_cache = snapshot.actions.all().find(|&action| is_empty_cache(&snapshot, action));
    let laid: Result<Vec<Laid>, LayOutError> =
        Recording::all(&snapshot).map(|recording| device::lay_out(&recording, empties_cache)).collect();
    let laid = laid?;
    let snapshot = Arc::into_inner(snapshot).ok_or(LayOutError::InUse)?;
    Ok(with_layout(snapshot, laid))
}

fn is_empty_cache(snapshot: &Snapshot, action: Action) -> bool {
    snapshot.actions.other(action).is_some_and(|name| snapshot.strings.is(name, EMPTY_CACHE))
}

/// The snapshot with the devices as they were laid out.
fn with_layout(mut snapshot: Snapshot, laid: Vec<Laid>) -> LaidOut {
    let kinds = [&b"small"[..], b"large"].map(|kind| snapshot.strings.intern(kind).0);
    let moved: BTreeMap<DeviceId, Moved> =
        laid.iter().map(|laid| (laid.device, laid.moved.clone())).collect();
    let counters: Vec<(DeviceId, Counters)> = laid.iter().map(|laid| (laid.device, laid.counters)).collect();
    for (device, counted) in &counters {
        facts::note_peaks(&mut snapshot.recorder, *device, counted);
    }
    snapshot.census =
        std::mem::take(&mut snapshot.census).moved(|device, addr| moved.get(&device)?.address(addr));
    snapshot.timelines = laid.into_iter().map(|laid| timeline(laid, kinds).into()).collect();
    LaidOut { snapshot, counters }
}

fn timeline(laid: Laid, kinds: [StrId; 2]) -> Timeline {
    let segments = laid.segments(kinds);
    let (device, anchor) = (laid.device, Anchor::EndState);
    Timeline::build(TimelineInput { device, events: laid.events, segments, anchor })
}
