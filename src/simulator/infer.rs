//! What a recording shows of the device, without saying it.

use super::fidelity::gives_back_more;
use super::requests::{Op, Requests};
use super::rounding::{block_bytes, segment_bytes};
use super::rules::{Rules, TieBreak};
use super::segment_events::{Cause, SegmentAction};
use super::{Device, Settings};
use crate::analysis;
use crate::model::{EventIx, Moment, Timeline};

/// More than any device's memory.
const MAX_DEVICE_BYTES: u64 = 1 << 44;

/// How much could be reserved when recording: a failed request shows it, and so do requests for which
/// the cache was emptied. `None` if nothing ever failed.
fn capacity(timeline: &Timeline, requests: &Requests, settings: &Settings) -> Option<u64> {
    let shown = analysis::capacity(timeline).and_then(|bytes| u64::try_from(bytes).ok());
    let limits = [shown, oom_limit(timeline, requests, settings), retry_limit(timeline, requests, settings)];
    let least = limits.into_iter().flatten().min()?;
    Some(least.max(requests.recorded_peak))
}

/// Requests that failed needed more than there was.
fn oom_limit(timeline: &Timeline, requests: &Requests, settings: &Settings) -> Option<u64> {
    if settings.expandable_segments {
        return None;
    }
    let failed = requests.all.iter().filter_map(|request| match request.op {
        Op::Oom { requested, .. } => Some((request.event, requested)),
        _ => None,
    });
    let limit = |(event, requested): (u32, u64)| {
        let wanted = segment_bytes(block_bytes(requested, settings), settings);
        reserved(timeline, Moment(event)).saturating_add(wanted).saturating_sub(1)
    };
    failed.map(limit).min()
}

/// So did segments for which the cache was emptied.
fn retry_limit(timeline: &Timeline, requests: &Requests, settings: &Settings) -> Option<u64> {
    let frees_for_other_reasons =
        settings.max_split_bytes.is_some() || 0.0 < settings.garbage_collection_threshold;
    if settings.expandable_segments || frees_for_other_reasons {
        return None;
    }
    let mut before = None;
    let mut least: Option<u64> = None;
    for event in &requests.segments {
        match (event.action, event.cause) {
            (SegmentAction::Free, Cause::Request) => {
                before.get_or_insert_with(|| reserved(timeline, Moment(event.event)));
            }
            (SegmentAction::Alloc, _) => {
                let limit = before.take().map(|before| before.saturating_add(event.size).saturating_sub(1));
                least = least.into_iter().chain(limit).min();
            }
            _ => before = None,
        }
    }
    least
}

fn reserved(timeline: &Timeline, moment: Moment) -> u64 {
    timeline.reserved.at(moment).max(0).unsigned_abs()
}

/// The device with what the recording shows of it.
///
/// Where a request fails or the cache is emptied for one, `capacity` knows enough. Where garbage is
/// collected, or blocks that are too large to be split are given back, how much there is must be
/// found by what is given back when: with too little memory it is more than was recorded, with too
/// much less.
pub(super) fn device(
    timeline: &Timeline,
    requests: &Requests,
    settings: &Settings,
    tie_break: TieBreak,
    known: Device,
) -> Device {
    let capacity_bytes = known.capacity_bytes.or_else(|| capacity(timeline, requests, settings));
    let mut device = Device { capacity_bytes, ..known };
    let search = |with: &dyn Fn(u64) -> Device| search(requests, settings, tie_break, with);
    let is_known = device.total_bytes.is_some() || device.allowed_bytes.is_some();
    if 0.0 < settings.garbage_collection_threshold && !is_known {
        let found = match settings.memory_fraction {
            Some(_) => search(&|bytes| Device { total_bytes: Some(bytes), ..device }),
            None => search(&|bytes| Device { allowed_bytes: Some(bytes), ..device }),
        };
        device = found.unwrap_or(device);
    }
    let gives_back =
        requests.segments.iter().any(|event| event.cause != Cause::Program && event.action.gives_back());
    if device.capacity_bytes.is_none() && gives_back {
        device = search(&|bytes| Device { capacity_bytes: Some(bytes), ..device }).unwrap_or(device);
    }
    device
}

/// Find how much memory explains what was given back; `None` if it seems to be without limit.
fn search(
    requests: &Requests,
    settings: &Settings,
    tie_break: TieBreak,
    with: &dyn Fn(u64) -> Device,
) -> Option<Device> {
    let (mut low, mut high) = (0, MAX_DEVICE_BYTES);
    while 1 < high - low {
        let middle = low + (high - low) / 2;
        match gives_back_more(requests, &Rules::new(settings, tie_break, &with(middle))) {
            Some(true) => low = middle,
            Some(false) => high = middle,
            None => return Some(with(middle)),
        }
    }
    (high != MAX_DEVICE_BYTES).then(|| with(high))
}

/// Which of several equally large blocks the version takes, by what it writes: pools came to the
/// events a little earlier than the order changed.
pub(super) fn tie_break(timeline: &Timeline) -> TieBreak {
    let has_pools = timeline.events.contexts().iter().any(|context| context.pool.is_some());
    if has_pools { TieBreak::Creation } else { TieBreak::Address }
}

/// The last event at which a recorded request failed.
pub(super) fn last_oom(requests: &Requests) -> Option<EventIx> {
    let last = requests.all.iter().rev().find(|request| matches!(request.op, Op::Oom { .. }))?;
    Some(EventIx(last.event))
}
