//! What a simulation goes by: the settings, and what the recording shows of the version and device.

use super::driver::UNLIMITED_BYTES;
use super::{Device, Settings};

/// Which of several cached blocks of the same size is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TieBreak {
    /// The one at the lowest address, as before torch 2.12.
    Address,
    /// The one in the oldest segment.
    Creation,
}

/// The rules of one simulation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rules {
    pub(super) settings: Settings,
    pub(super) tie_break: TieBreak,
    /// Bytes that the driver can give.
    pub(super) capacity_bytes: u64,
    /// Bytes of the device, for the size of expandable ranges.
    pub(super) total_bytes: u64,
    /// Bytes that the memory fraction allows.
    pub(super) allowed_bytes: Option<u64>,
    /// From how many reserved bytes on garbage is collected; `None` if never.
    pub(super) garbage_bytes: Option<u64>,
}

impl Rules {
    pub(super) fn new(settings: &Settings, tie_break: TieBreak, device: &Device) -> Self {
        let capacity_bytes = device.capacity_bytes.unwrap_or(UNLIMITED_BYTES).min(UNLIMITED_BYTES);
        let known_total =
            device.total_bytes.or(device.capacity_bytes).map(|total| total.min(UNLIMITED_BYTES));
        let part = |bytes: u64, part: f64| (bytes as f64 * part) as u64;
        let fraction = settings.memory_fraction.filter(|&fraction| fraction < 1.0);
        let allowed_bytes =
            fraction.zip(known_total).map(|(fraction, total)| part(total, fraction)).or(device.allowed_bytes);
        let threshold = Some(settings.garbage_collection_threshold).filter(|&threshold| 0.0 < threshold);
        let garbage_bytes = allowed_bytes.zip(threshold).map(|(allowed, threshold)| part(allowed, threshold));
        let total_bytes = known_total.unwrap_or(UNLIMITED_BYTES);
        Self {
            settings: settings.clone(),
            tie_break,
            capacity_bytes,
            total_bytes,
            allowed_bytes,
            garbage_bytes,
        }
    }
}
