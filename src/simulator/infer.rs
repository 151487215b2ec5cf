//! What a recording shows of the device, without saying it.

use super::fidelity::{Verdict, first_difference, judge};
use super::requests::{Op, Requests};
use super::rounding::{SMALL_SEGMENT_BYTES, block_bytes, clamped, is_large, segment_bytes};
use super::rules::{Rules, TieBreak};
use super::segment_events::Cause;
use super::{Device, Settings};
use crate::model::{EventIx, Moment, Timeline};

/// More than any device's memory, in units of the search.
const MAX_DEVICE_UNITS: u64 = 1 << 24;

/// How many lengths of expandable ranges are tried, and with how many requests in all.
const RANGE_TRIALS: u64 = 64;
const MAX_TRIAL_REQUESTS: usize = 40_000_000;

/// How finely memory is searched for.
const UNIT_BYTES: u64 = 1 << 20;

/// The device with what the recording shows of it.
///
/// An OOM says what the device had left. Where requests were limited otherwise, garbage was collected or
/// blocks too large to be split were given back, how much there was must be found by what is given
/// back when.
pub(super) fn device(
    timeline: &Timeline,
    requests: &Requests,
    settings: &Settings,
    tie_break: TieBreak,
    known: Device,
) -> Device {
    let shown = Shown::new(timeline, requests, settings);
    let mut device = Device { capacity_bytes: known.capacity_bytes.or(shown.capacity), ..known };
    let judged = |device: &Device| judge(requests, &Rules::new(settings, tie_break, device));
    let collects_garbage = 0.0 < settings.garbage_collection_threshold;
    if (collects_garbage || shown.is_fraction)
        && device.total_bytes.is_none()
        && device.allowed_bytes.is_none()
    {
        let found = match settings.memory_fraction {
            Some(_) => search(requests, |bytes| Device { total_bytes: Some(bytes), ..device }, judged),
            None => search(requests, |bytes| Device { allowed_bytes: Some(bytes), ..device }, judged),
        };
        device = found.unwrap_or(device);
    }
    let is_limited = requests.all.iter().any(|request| matches!(request.op, Op::Oom { .. }))
        || requests.segments.iter().any(|event| event.cause != Cause::Program && event.action.gives_back());
    if device.capacity_bytes.is_none() && !shown.is_fraction && is_limited {
        device = search(requests, |bytes| Device { capacity_bytes: Some(bytes), ..device }, judged)
            .unwrap_or(device);
    }
    device
}

/// The device's memory, which expandable ranges depend on, found by how far the simulation agrees with
/// the recording.
pub(super) fn total(timeline: &Timeline, requests: &Requests, rules: &Rules, device: Device) -> Device {
    let is_small = requests.all.len().saturating_mul(RANGE_TRIALS as usize) < MAX_TRIAL_REQUESTS;
    if !rules.settings.expandable_segments || device.total_bytes.is_some() || !is_small {
        return device;
    }
    let pages = rules.settings.large_segment_bytes;
    let candidate = |i: u64| match device.capacity_bytes {
        // The context and other programs take a part of the device.
        Some(capacity) => capacity.saturating_add((i * pages).saturating_mul(8) / 9),
        None => requests.recorded_peak.saturating_mul(1 << (i / 4).min(16)),
    };
    let devices = (0..RANGE_TRIALS).map(|i| Device { total_bytes: Some(candidate(i)), ..device });
    let reach = |device: &Device| {
        let rules = Rules::new(&rules.settings, rules.tie_break, device);
        first_difference(timeline, requests, &rules).map_or(u32::MAX, |event| event.0)
    };
    let mut best = (reach(&device), device);
    for device in devices {
        if best.0 == u32::MAX {
            break;
        }
        let reach = reach(&device);
        if best.0 < reach {
            best = (reach, device);
        }
    }
    best.1
}

/// What failed requests show.
struct Shown {
    /// What was reserved, and what the driver had left, where that was not enough.
    capacity: Option<u64>,
    /// Whether a request failed although the driver had enough.
    is_fraction: bool,
}

impl Shown {
    fn new(timeline: &Timeline, requests: &Requests, settings: &Settings) -> Self {
        let mut out = Self { capacity: None, is_fraction: false };
        for oom in &timeline.ooms {
            let Some(free) = oom.device_free.and_then(|free| u64::try_from(free).ok()) else { continue };
            let size = block_bytes(clamped(oom.requested), settings);
            let wanted = if settings.expandable_segments {
                let small = !is_large(size);
                size.next_multiple_of(if small { SMALL_SEGMENT_BYTES } else { settings.large_segment_bytes })
            } else {
                segment_bytes(size, settings)
            };
            if wanted <= free {
                out.is_fraction = true;
            } else {
                let reserved = timeline.reserved.at(Moment::after(oom.event)).max(0).unsigned_abs();
                out.capacity = out.capacity.max(Some(reserved.saturating_add(free)));
            }
        }
        out.capacity = out.capacity.map(|capacity| capacity.max(requests.recorded_peak));
        out
    }
}

/// Find how much memory explains the recording; `None` if there seems to be no limit.
///
/// An amount that explains only the beginning counts if that is long enough: a recording that contradicts
/// itself early says nothing about the device.
fn search(
    requests: &Requests,
    with: impl Fn(u64) -> Device,
    judged: impl Fn(&Device) -> (Verdict, u32),
) -> Option<Device> {
    let (mut low, mut high) = (0, MAX_DEVICE_UNITS);
    while 1 < high - low {
        let middle = low + (high - low) / 2;
        match judged(&with(middle * UNIT_BYTES)).0 {
            Verdict::TooLittle => low = middle,
            Verdict::TooMuch => high = middle,
            Verdict::Fits => return Some(with(middle * UNIT_BYTES)),
        }
    }
    let best = with(high * UNIT_BYTES);
    let explains_enough = requests.events / 16 <= judged(&best).1 as usize;
    (high != MAX_DEVICE_UNITS && explains_enough).then_some(best)
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
