//! The rules of one simulation: the settings, and what the recording shows of torch's version and of the device.

use super::Settings;
use super::device::{Device, UNLIMITED_BYTES};

/// Which of several cached blocks of the same size is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TieBreak {
    /// The one at the lowest address, as before torch 2.12.
    Address,
    /// The one in the oldest segment.
    Creation,
}

impl TieBreak {
    /// The one that this is not.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Address => Self::Creation,
            Self::Creation => Self::Address,
        }
    }
}

/// The rules of one simulation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rules {
    pub(crate) settings: Settings,
    pub(crate) tie_break: TieBreak,
    /// Bytes that the driver can give.
    pub(crate) capacity_bytes: u64,
    /// Bytes of the device, which the size of expandable ranges depends on.
    pub(crate) total_bytes: u64,
    /// Bytes that the memory fraction allows.
    pub(crate) allowed_bytes: Option<u64>,
    /// Garbage is collected while more bytes than this are reserved; `None` if never.
    pub(crate) garbage_bytes: Option<u64>,
}

impl Rules {
    pub(crate) fn new(settings: &Settings, tie_break: TieBreak, device: &Device) -> Self {
        let capacity_bytes = device.capacity_bytes.unwrap_or(UNLIMITED_BYTES).min(UNLIMITED_BYTES);
        let known_total =
            device.total_bytes.or(device.capacity_bytes).map(|total| total.min(UNLIMITED_BYTES));
        let share = |bytes: u64, share: f64| (bytes as f64 * share) as u64;
        let fraction = settings.memory_fraction.filter(|&fraction| fraction < 1.0);
        let allowed_bytes = fraction
            .zip(known_total)
            .map(|(fraction, total)| share(total, fraction))
            .or(device.allowed_bytes);
        let threshold = Some(settings.garbage_collection_threshold).filter(|&threshold| 0.0 < threshold);
        let garbage_bytes =
            allowed_bytes.zip(threshold).map(|(allowed, threshold)| share(allowed, threshold));
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

    /// The most bytes that can be reserved; `None` for any number.
    pub(crate) fn limit_bytes(&self) -> Option<u64> {
        let capacity = (self.capacity_bytes < UNLIMITED_BYTES).then_some(self.capacity_bytes);
        capacity.into_iter().chain(self.allowed_bytes).min()
    }
}
