//! What `lay-out` says of the requests that it laid out.

use super::json;
use oomscope_model::{Bytes, DeviceId};
use oomscope_simulator::{Counters, Outcome};
use serde::Serialize;
use std::io::{self, Write};

/// Raised when a key changes its meaning or goes away.
const SCHEMA: u32 = 1;

/// The requests of a device, laid out.
#[derive(Debug)]
pub struct LaidDevice<'a> {
    /// The device that the program asked.
    pub device: DeviceId,
    /// What the allocator counted with as much memory as it wanted.
    pub counters: Counters,
    /// Whether the file that was written shows the allocator the same requests again.
    pub is_reproduced: bool,
    /// The smallest capacity that meets every request.
    pub smallest_capacity_bytes: Option<u64>,
    /// The outcomes on devices that there are, with their names.
    pub on: Vec<(&'a str, Outcome)>,
}

#[derive(Serialize)]
struct Record<'a> {
    schema: u32,
    devices: Vec<DeviceRecord<'a>>,
}

#[derive(Serialize)]
struct DeviceRecord<'a> {
    device: i64,
    peak_requested_bytes: u64,
    peak_allocated_bytes: u64,
    peak_reserved_bytes: u64,
    smallest_capacity_bytes: Option<u64>,
    is_reproduced: bool,
    on: Vec<OnRecord<'a>>,
}

#[derive(Serialize)]
struct OnRecord<'a> {
    name: &'a str,
    capacity_bytes: Option<u64>,
    fits: bool,
    /// Capacity less the most that was reserved; negative, the bytes that are missing at least.
    margin_bytes: Option<Bytes>,
    peak_reserved_bytes: u64,
    failed: Option<FailedRecord>,
}

#[derive(Serialize)]
struct FailedRecord {
    event: u32,
    requested_bytes: u64,
    reserved_bytes: u64,
}

/// Write what was laid out as JSON; sizes are in bytes.
///
/// # Errors
/// When writing fails.
pub fn laid_out_json(out: &mut dyn Write, devices: &[LaidDevice<'_>]) -> io::Result<()> {
    json::write(out, &Record { schema: SCHEMA, devices: devices.iter().map(device).collect() })
}

fn device<'a>(laid: &'a LaidDevice<'_>) -> DeviceRecord<'a> {
    let counters = &laid.counters;
    DeviceRecord {
        device: laid.device.0,
        peak_requested_bytes: counters.requested_bytes.peak,
        peak_allocated_bytes: counters.allocated_bytes.peak,
        peak_reserved_bytes: counters.reserved_bytes.peak,
        smallest_capacity_bytes: laid.smallest_capacity_bytes,
        is_reproduced: laid.is_reproduced,
        on: laid.on.iter().map(|(name, outcome)| on(name, outcome)).collect(),
    }
}

fn on<'a>(name: &'a str, outcome: &Outcome) -> OnRecord<'a> {
    OnRecord {
        name,
        capacity_bytes: outcome.limit_bytes,
        fits: outcome.fits(),
        margin_bytes: outcome.margin_bytes(),
        peak_reserved_bytes: outcome.peak_reserved_bytes(),
        failed: outcome.oom.map(|oom| FailedRecord {
            event: oom.event.0,
            requested_bytes: oom.requested_bytes,
            reserved_bytes: oom.reserved_bytes,
        }),
    }
}
