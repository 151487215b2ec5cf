//! Why a setting is refused.

use oomscope_units::did_you_mean;
use thiserror::Error;

/// A setting that cannot be simulated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingError {
    /// It has no influence on where blocks go, or does not exist.
    #[error("{key}: not a setting that decides where blocks go (known: {}){}", KNOWN.join(", "), did_you_mean(.key, KNOWN))]
    Unknown {
        /// Its name.
        key: String,
    },
    /// It has a value that torch refuses.
    #[error("{key}: expected {expected}, found {value:?}")]
    Value {
        /// Its name.
        key: String,
        /// The value.
        value: String,
        /// The values that torch takes.
        expected: &'static str,
    },
}

/// The settings that can be simulated.
const KNOWN: [&str; 7] = [
    "expandable_segments",
    "max_split_size_mb",
    "max_non_split_rounding_mb",
    "garbage_collection_threshold",
    "per_process_memory_fraction",
    "roundup_power2_divisions",
    "large_segment_size_mb",
];

impl SettingError {
    pub(crate) fn unknown(key: &str) -> Self {
        Self::Unknown { key: key.to_owned() }
    }

    pub(crate) fn value(key: &str, value: &str, expected: &'static str) -> Self {
        Self::Value { key: key.to_owned(), value: value.to_owned(), expected }
    }
}
