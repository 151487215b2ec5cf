//! The rule of `max_split_size_mb`, by which the allocator does not split some holes.

use oomscope_model::{Bytes, CONF_VARIABLES, SettingValue, Snapshot, allocator_sizes};

/// Default of `max_non_split_rounding_mb`, in bytes: a free block of at least `max_split_size` serves
/// requests that are smaller than it by less than this.
const DEFAULT_NON_SPLIT_ROUNDING_BYTES: Bytes = allocator_sizes::LARGE_BUFFER;

/// The part of `get_free_block` in `CUDACachingAllocator.cpp` that concerns `max_split_size_mb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SplitRule {
    /// Blocks of at least this size are not split; `Bytes::MAX` without the setting.
    max_split_bytes: Bytes,
    /// Such a block must be larger than the request by less than this.
    max_rounding_bytes: Bytes,
}

impl SplitRule {
    pub(super) fn new(snapshot: &Snapshot) -> Self {
        let setting = |name: &str| snapshot.settings.iter().find(|s| s.name == name).map(|s| &s.value);
        let max_split_bytes = match setting("max_split_size") {
            Some(&SettingValue::Int(bytes)) if 0 < bytes => Bytes(bytes),
            _ => Bytes::MAX,
        };
        let from_text = CONF_VARIABLES.into_iter().find_map(|key| match setting(key) {
            Some(SettingValue::Text(text)) => max_non_split_rounding(text),
            _ => None,
        });
        Self { max_split_bytes, max_rounding_bytes: from_text.unwrap_or(DEFAULT_NON_SPLIT_ROUNDING_BYTES) }
    }

    /// True if the allocator gives a hole to a request that fits into it; sizes are in bytes.
    pub(super) fn allows(&self, request: Bytes, hole: Bytes) -> bool {
        if request < self.max_split_bytes {
            hole < self.max_split_bytes
        } else {
            hole < request + self.max_rounding_bytes
        }
    }
}

/// The bytes of `max_non_split_rounding_mb` in the text of the configuration. The snapshot has no key for it.
fn max_non_split_rounding(text: &str) -> Option<Bytes> {
    let value = text.split(',').find_map(|entry| {
        let (name, value) = entry.split_once([':', '='])?;
        (name.trim() == "max_non_split_rounding_mb").then_some(value)
    })?;
    value.trim().parse().ok().map(|mib| Bytes(1 << 20) * mib)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_model::Setting;

    #[test]
    fn the_rounding_is_read_under_the_old_and_the_new_name_of_the_configuration() {
        let rounding = |key: &str, text: &str| {
            let setting = Setting { name: key.to_owned(), value: SettingValue::Text(text.to_owned()) };
            SplitRule::new(&Snapshot { settings: vec![setting], ..Snapshot::default() }).max_rounding_bytes
        };
        assert_eq!(rounding("PYTORCH_CUDA_ALLOC_CONF", "max_non_split_rounding_mb:64"), 64 << 20);
        assert_eq!(rounding("PYTORCH_ALLOC_CONF", "max_non_split_rounding_mb:64"), 64 << 20);
        assert_eq!(rounding("PYTORCH_ALLOC_CONF", "a:1, max_non_split_rounding_mb=32"), 32 << 20);
        assert_eq!(rounding("PYTORCH_ALLOC_CONF", ""), DEFAULT_NON_SPLIT_ROUNDING_BYTES);
    }
}
