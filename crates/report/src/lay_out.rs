//! What `lay-out` says of the requests that it laid out.

use super::json;
use super::needs::needs_text;
use oomscope_model::{Bytes, DeviceId, Estimate, NeededMemory};
use oomscope_simulator::{Counters, Outcome};
use serde::Serialize;
use std::io::{self, Write};

/// The name of the format.
const SCHEMA: &str = "oomscope-lay-out";

/// Its number. It changes when a key changes its meaning or goes.
const VERSION: u32 = 2;

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
    /// The outcomes on devices that there are.
    pub on: Vec<LaidOn<'a>>,
}

/// Requests on a device that there is.
#[derive(Debug)]
pub struct LaidOn<'a> {
    /// What is needed of it; `None` where no capacity meets every request.
    pub needed: Option<NeededMemory<'a>>,
    /// Its name.
    pub name: &'a str,
    /// What happens on it.
    pub outcome: Outcome,
}

#[derive(Serialize)]
struct Record<'a> {
    schema: &'static str,
    version: u32,
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
    /// What the program needs of it, in words.
    needs_text: Option<String>,
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
pub fn laid_out_json(
    out: &mut dyn Write,
    devices: &[LaidDevice<'_>],
    estimate: &Estimate<'_>,
) -> io::Result<()> {
    let devices = devices.iter().map(|laid| device(laid, estimate)).collect();
    json::write(out, &Record { schema: SCHEMA, version: VERSION, devices })
}

fn device<'a>(laid: &'a LaidDevice<'_>, estimate: &Estimate<'_>) -> DeviceRecord<'a> {
    let counters = &laid.counters;
    DeviceRecord {
        device: laid.device.0,
        peak_requested_bytes: counters.requested_bytes.peak,
        peak_allocated_bytes: counters.allocated_bytes.peak,
        peak_reserved_bytes: counters.reserved_bytes.peak,
        smallest_capacity_bytes: laid.smallest_capacity_bytes,
        is_reproduced: laid.is_reproduced,
        on: laid.on.iter().map(|laid| on(laid, estimate)).collect(),
    }
}

fn on<'a>(laid: &LaidOn<'a>, estimate: &Estimate<'_>) -> OnRecord<'a> {
    let LaidOn { needed, name, outcome } = laid;
    OnRecord {
        name,
        needs_text: needed.as_ref().map(|needed| needs_text(estimate, needed)),
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
