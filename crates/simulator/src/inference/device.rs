//! How much memory the recorded device had.

use crate::replay::{MemoryFit, judge_memory};
use crate::requests::{Cause, Op, Requests};
use crate::settings::{
    Device, Rules, SMALL_BUFFER, Settings, TieBreak, block_bytes, clamped, is_large, segment_bytes,
};
use oomscope_model::{Moment, Timeline};

/// The search finds memory to this many bytes: 1 MiB, less than any segment, so that no segment more would fit.
const UNIT_BYTES: u64 = 1 << 20;

/// Where the search begins, in units: 16 TiB, more than any device has.
const MAX_DEVICE_UNITS: u64 = 1 << 24;

/// An amount of memory counts if it explains at least this part (one in 16) of the events. Recordings that contradict
/// themselves earlier say nothing about the device.
const EXPLAINED_PART: usize = 16;

/// The device, with the limits that the recording shows.
///
/// An OOM event states what the device had left. Where something else limited requests, or where garbage was collected
/// or oversize blocks were given back, the limit is searched for: with the right one, memory is given back when it was
/// in the recording.
pub(crate) fn device(
    timeline: &Timeline,
    requests: &Requests,
    settings: &Settings,
    tie_break: TieBreak,
    known: Device,
) -> Device {
    let shown = ShownByOoms::new(timeline, requests, settings);
    let mut device = Device { capacity_bytes: known.capacity_bytes.or(shown.capacity), ..known };
    let judged = |device: &Device| judge_memory(requests, &Rules::new(settings, tie_break, device));
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

/// The limits of the device that failed requests show.
struct ShownByOoms {
    /// Reserved bytes, and those that the driver had left, where these were not enough.
    capacity: Option<u64>,
    /// Whether a request failed although the driver had enough: then a memory fraction limited it.
    is_fraction: bool,
}

impl ShownByOoms {
    fn new(timeline: &Timeline, requests: &Requests, settings: &Settings) -> Self {
        let mut out = Self { capacity: None, is_fraction: false };
        for oom in &timeline.ooms {
            let Some(free) = oom.device_free.and_then(|free| u64::try_from(free).ok()) else { continue };
            let size = block_bytes(clamped(oom.requested), settings);
            let wanted = if settings.expandable_segments {
                let small = !is_large(size);
                size.next_multiple_of(if small { SMALL_BUFFER } else { settings.large_segment_bytes })
            } else {
                segment_bytes(size, settings)
            };
            if wanted <= free {
                out.is_fraction = true;
            } else {
                let reserved = timeline.reserved.at(Moment::after(oom.event)).as_u64();
                out.capacity = out.capacity.max(Some(reserved.saturating_add(free)));
            }
        }
        out.capacity = out.capacity.map(|capacity| capacity.max(requests.recorded_peak));
        out
    }
}

/// Search for the amount of memory that explains the recording, or most of its beginning; `None` if there seems to be no
/// limit.
fn search(
    requests: &Requests,
    with: impl Fn(u64) -> Device,
    judged: impl Fn(&Device) -> (MemoryFit, u32),
) -> Option<Device> {
    let (mut low, mut high) = (0, MAX_DEVICE_UNITS);
    while 1 < high - low {
        let middle = low + (high - low) / 2;
        match judged(&with(middle * UNIT_BYTES)).0 {
            MemoryFit::TooLittle => low = middle,
            MemoryFit::TooMuch => high = middle,
            MemoryFit::Fits => return Some(with(middle * UNIT_BYTES)),
        }
    }
    let best = with(high * UNIT_BYTES);
    let explains_enough = requests.events / EXPLAINED_PART <= judged(&best).1 as usize;
    (high != MAX_DEVICE_UNITS && explains_enough).then_some(best)
}
