//! How long the address ranges of expandable segments are: 9/8 of the device's memory, which no recording states.

use crate::replay::first_difference;
use crate::requests::Requests;
use crate::settings::{Device, Rules};
use oomscope_model::Timeline;

/// The most amounts of memory that are tried where the capacity is known. Ranges that are a page longer each, 20 MiB by
/// default, cover more than a gibibyte for the context and other programs.
const MAX_TRIALS: u64 = 64;

/// Amounts of memory that are tried where the capacity is unknown: from the recorded peak on, each twice the one before.
const DOUBLINGS: u32 = 16;

/// The most requests of a recording for which this is tried, times [`MAX_TRIALS`]: every trial replays all of them.
const MAX_TRIAL_REQUESTS: usize = 40_000_000;

/// The device with the total memory, which the length of expandable ranges follows from, under which the simulation
/// agrees longest with the recording.
pub(crate) fn with_total_memory(
    timeline: &Timeline,
    requests: &Requests,
    rules: &Rules,
    device: Device,
) -> Device {
    let is_small = requests.all.len().saturating_mul(MAX_TRIALS as usize) < MAX_TRIAL_REQUESTS;
    if !rules.settings.expandable_segments || device.total_bytes.is_some() || !is_small {
        return device;
    }
    let page = rules.settings.large_segment_bytes;
    let totals: Vec<u64> = match device.capacity_bytes {
        // The context and other programs take a part of the device. A range is 9/8 of the device, so a device that is
        // larger by 8/9 of a page has ranges that are longer by one.
        Some(capacity) => (0..MAX_TRIALS)
            .map(|pages| capacity.saturating_add((pages * page).saturating_mul(8) / 9))
            .collect(),
        None => (0..DOUBLINGS).map(|n| requests.recorded_peak.saturating_mul(1 << n)).collect(),
    };
    let devices = totals.into_iter().map(|total| Device { total_bytes: Some(total), ..device });
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
