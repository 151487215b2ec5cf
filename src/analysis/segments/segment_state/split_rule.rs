//! Which holes the allocator does not split.

use crate::model::{SettingValue, Snapshot, allocator_sizes};

/// What a free block of at least `max_split_size` may exceed a request by, unless set otherwise.
const DEFAULT_NON_SPLIT_ROUNDING_BYTES: i64 = allocator_sizes::LARGE_BUFFER;

/// What `max_split_size_mb` says about which holes serve which requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SplitRule {
    /// Blocks of at least this size are not split.
    max_split_bytes: i64,
    /// How much larger than the request such a block may be.
    max_rounding_bytes: i64,
}

impl SplitRule {
    pub(super) fn new(snapshot: &Snapshot) -> Self {
        let setting = |name: &str| snapshot.settings.iter().find(|s| s.name == name).map(|s| &s.value);
        let max_split_bytes = match setting("max_split_size") {
            Some(&SettingValue::Int(bytes)) if 0 < bytes => bytes,
            _ => i64::MAX,
        };
        let from_text = match setting("PYTORCH_CUDA_ALLOC_CONF") {
            Some(SettingValue::Text(text)) => max_non_split_rounding(text),
            _ => None,
        };
        Self { max_split_bytes, max_rounding_bytes: from_text.unwrap_or(DEFAULT_NON_SPLIT_ROUNDING_BYTES) }
    }

    /// Whether the allocator gives a hole to a request that fits into it.
    pub(super) fn allows(&self, request: i64, hole: i64) -> bool {
        if request < self.max_split_bytes {
            hole < self.max_split_bytes
        } else {
            hole < request.saturating_add(self.max_rounding_bytes)
        }
    }
}

/// `max_non_split_rounding_mb` stands in the text of the configuration only.
fn max_non_split_rounding(text: &str) -> Option<i64> {
    let value = text.split(',').find_map(|entry| {
        let (name, value) = entry.split_once(':')?;
        (name.trim() == "max_non_split_rounding_mb").then_some(value)
    })?;
    value.trim().parse::<i64>().ok().map(|mib| mib.saturating_mul(1 << 20))
}
