//! The device's memory.

use oomscope_model::Bytes;

/// More bytes than any device has.
pub(crate) const UNLIMITED_BYTES: u64 = 1 << 50;

/// How much memory there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Device {
    /// Bytes that PyTorch's pools may reserve in all; `None` for no limit.
    pub capacity_bytes: Option<u64>,
    /// All bytes of the device, for settings that are a share of it; `None` if unknown. Then the capacity stands in for
    /// it.
    pub total_bytes: Option<u64>,
    /// The bytes that `set_per_process_memory_fraction` allows, where settings do not say the fraction.
    pub allowed_bytes: Option<u64>,
}

impl Device {
    /// The device with another capacity; the same one if none is given.
    #[must_use]
    pub fn with_capacity(self, capacity_bytes: Option<Bytes>) -> Self {
        match capacity_bytes.and_then(|bytes| u64::try_from(bytes).ok()) {
            Some(bytes) => Self { capacity_bytes: Some(bytes), allowed_bytes: None, ..self },
            None => self,
        }
    }

    /// The most bytes that can be reserved, as far as that is known.
    pub fn limit_bytes(&self) -> Option<u64> {
        self.capacity_bytes.into_iter().chain(self.allowed_bytes).min()
    }
}
