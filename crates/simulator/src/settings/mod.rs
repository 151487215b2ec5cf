//! The allocator's settings, and the rules of a simulation that follow from them.

mod asked;
mod device;
mod divisions;
mod error;
mod expandable;
mod rounding;
mod rules;

pub use asked::Ignored;
pub use device::Device;
pub use error::SettingError;
pub use expandable::ExpandableSegments;
pub(super) use rounding::{
    MAX_REQUEST_BYTES, MIN_BLOCK_SIZE, SMALL_BUFFER, SMALL_SIZE, block_bytes, clamped, is_large,
    segment_bytes,
};
pub(super) use rules::{Rules, TieBreak};

use divisions::CLASSES;
use oomscope_model::allocator_sizes;
use oomscope_model::{CONF_VARIABLES, Setting, SettingValue, Snapshot};

const MIB: u64 = 1 << 20;

// The allocator's sizes, as settings count bytes.
const LARGE_BUFFER: u64 = allocator_sizes::LARGE_BUFFER.unsigned_abs();
const ROUND_LARGE: u64 = allocator_sizes::ROUND_LARGE.unsigned_abs();

/// Settings that a snapshot has only within that text.
const TEXT_ONLY: [&str; 3] =
    ["max_non_split_rounding_mb", "large_segment_size_mb", "per_process_memory_fraction"];

/// Settings of `PYTORCH_ALLOC_CONF` that decide where blocks go, with torch's names and defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The environment variable that sets them, as the snapshot names it.
    pub variable: &'static str,
    /// `expandable_segments`: segments that grow page by page.
    pub expandable_segments: bool,
    /// `max_split_size_mb` in bytes: blocks of at least this size are not split.
    pub max_split_bytes: Option<u64>,
    /// `max_non_split_rounding_mb` in bytes: such a block may be larger than the request by less than this.
    pub max_non_split_rounding_bytes: u64,
    /// `garbage_collection_threshold`: old blocks are given back when more than this share of the allowed memory is
    /// reserved; 0 is off.
    pub garbage_collection_threshold: f64,
    /// `per_process_memory_fraction`: the share of the device's memory that may be reserved.
    pub memory_fraction: Option<f64>,
    /// `roundup_power2_divisions` by size: up to 1 MiB, 2 MiB, 4 MiB, … 32 GiB and more; 0 is off.
    pub roundup_power2_divisions: [u32; CLASSES],
    /// `large_segment_size_mb` in bytes: the segment for blocks between 1 and 10 MiB.
    pub large_segment_bytes: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            variable: CONF_VARIABLES[0],
            expandable_segments: false,
            max_split_bytes: None,
            max_non_split_rounding_bytes: LARGE_BUFFER,
            garbage_collection_threshold: 0.0,
            memory_fraction: None,
            roundup_power2_divisions: [0; CLASSES],
            large_segment_bytes: LARGE_BUFFER,
        }
    }
}

impl Settings {
    /// The settings that a snapshot was recorded with. A setting that it does not state has its default.
    pub fn recorded(snapshot: &Snapshot) -> Self {
        let mut settings = Self { variable: snapshot.conf_variable(), ..Self::default() };
        let texts =
            snapshot.settings.iter().filter(|setting| CONF_VARIABLES.contains(&setting.name.as_str()));
        for text in texts {
            if let SettingValue::Text(text) = &text.value {
                let wanted = pairs(text).into_iter().filter(|(key, _)| TEXT_ONLY.contains(key));
                for (key, value) in wanted {
                    // Torch accepted the text, so a value that cannot be read here is no error.
                    settings.set(key, value).ok();
                }
            }
        }
        // After the text: the program may have changed a setting since.
        snapshot.settings.iter().for_each(|setting| settings.read(setting));
        settings
    }

    /// Take over a setting that has a key of its own in the snapshot.
    fn read(&mut self, setting: &Setting) {
        match (setting.name.as_str(), &setting.value) {
            ("expandable_segments", &SettingValue::Bool(on)) => self.expandable_segments = on,
            ("max_split_size", &SettingValue::Int(bytes)) => {
                self.max_split_bytes = u64::try_from(bytes).ok().filter(|&bytes| 0 < bytes);
            }
            ("garbage_collection_threshold", &SettingValue::Float(share)) if (0.0..1.0).contains(&share) => {
                self.garbage_collection_threshold = share;
            }
            ("roundup_power2_divisions", SettingValue::Table(table)) => {
                for entry in table {
                    let class = entry.name.parse::<u64>().ok().and_then(u64::checked_ilog2);
                    let divisions = match entry.value {
                        SettingValue::Int(divisions) => u32::try_from(divisions).ok(),
                        _ => None,
                    };
                    if let (Some(class), Some(divisions)) = (class, divisions)
                        && let Some(slot) = self.roundup_power2_divisions.get_mut(class as usize)
                    {
                        *slot = divisions;
                    }
                }
            }
            _ => {}
        }
    }

    /// Take over settings in the form of the environment variable: `key:value,key:value`.
    ///
    /// # Errors
    ///
    /// The first setting that is unknown, has no influence on where blocks go, or has a value that torch refuses.
    pub fn set_all(&mut self, text: &str) -> Result<(), SettingError> {
        pairs(text).into_iter().try_for_each(|(key, value)| self.set(key, value))
    }

    /// Change one setting by torch's name for it.
    ///
    /// # Errors
    ///
    /// If the setting is unknown, has no influence on where blocks go, or has a value that torch refuses.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SettingError> {
        let (key, value) = (key.trim(), value.trim());
        let wrong = |expected: &'static str| SettingError::value(key, value, expected);
        match key {
            "expandable_segments" => {
                self.expandable_segments = match value.to_ascii_lowercase().as_str() {
                    "true" | "1" => true,
                    "false" | "0" => false,
                    _ => return Err(wrong("True or False")),
                }
            }
            "max_split_size_mb" => {
                let off = ["-1", "none", "off"].contains(&value.to_ascii_lowercase().as_str());
                let size = mebibytes(value).filter(|&bytes| LARGE_BUFFER < bytes);
                self.max_split_bytes =
                    if off { None } else { Some(size.ok_or_else(|| wrong("a number above 20, or none"))?) };
            }
            "max_non_split_rounding_mb" => {
                let size = mebibytes(value).filter(|&bytes| LARGE_BUFFER < bytes);
                self.max_non_split_rounding_bytes = size.ok_or_else(|| wrong("a number above 20"))?;
            }
            "large_segment_size_mb" => {
                let size = mebibytes(value)
                    .filter(|&bytes| LARGE_BUFFER <= bytes && bytes.is_multiple_of(ROUND_LARGE));
                self.large_segment_bytes = size.ok_or_else(|| wrong("an even number of at least 20"))?;
            }
            "garbage_collection_threshold" => {
                let part = value.parse().ok().filter(|part| (0.0..1.0).contains(part));
                self.garbage_collection_threshold = part.ok_or_else(|| wrong("a part between 0 and 1"))?;
            }
            "per_process_memory_fraction" => {
                let part = value.parse().ok().filter(|&part| 0.0 < part && part <= 1.0);
                self.memory_fraction = Some(part.ok_or_else(|| wrong("a part between 0 and 1"))?);
            }
            "roundup_power2_divisions" => {
                self.roundup_power2_divisions =
                    divisions::parse(value).ok_or_else(|| wrong("a power of two, or [MB:N,…,>:N]"))?;
            }
            _ => return Err(SettingError::unknown(key)),
        }
        Ok(())
    }

    /// The number of settings that differ from those of `other`.
    pub fn differences(&self, other: &Self) -> usize {
        let differ = [
            self.expandable_segments != other.expandable_segments,
            self.max_split_bytes != other.max_split_bytes,
            self.max_non_split_rounding_bytes != other.max_non_split_rounding_bytes,
            self.garbage_collection_threshold != other.garbage_collection_threshold,
            self.memory_fraction != other.memory_fraction,
            self.roundup_power2_divisions != other.roundup_power2_divisions,
            self.large_segment_bytes != other.large_segment_bytes,
        ];
        differ.into_iter().filter(|&differs| differs).count()
    }

    /// The number of parts between two powers of two for a request; 0 and 1 are off.
    #[inline]
    pub(super) fn divisions_for(&self, requested: u64) -> u32 {
        let class = requested.max(1).ilog2().saturating_sub(MIB.ilog2()) as usize;
        self.roundup_power2_divisions[class.min(CLASSES - 1)]
    }

    /// Blocks of at least this size are not split.
    #[inline]
    pub(super) fn max_split(&self) -> u64 {
        self.max_split_bytes.unwrap_or(u64::MAX)
    }

    /// The environment variable with the settings that are not the default.
    pub fn conf_line(&self) -> String {
        format!("{}={}", self.variable, self.conf())
    }

    /// The settings that are not the default, as the value of `PYTORCH_ALLOC_CONF`; empty if all are.
    pub fn conf(&self) -> String {
        let default = Self::default();
        let mut parts = Vec::new();
        let mut add = |key: &str, value: String| parts.push(format!("{key}:{value}"));
        if self.expandable_segments {
            add("expandable_segments", "True".to_owned());
        }
        if let Some(bytes) = self.max_split_bytes {
            add("max_split_size_mb", (bytes / MIB).to_string());
        }
        if self.max_non_split_rounding_bytes != default.max_non_split_rounding_bytes {
            add("max_non_split_rounding_mb", (self.max_non_split_rounding_bytes / MIB).to_string());
        }
        if 0.0 < self.garbage_collection_threshold {
            add("garbage_collection_threshold", self.garbage_collection_threshold.to_string());
        }
        if let Some(part) = self.memory_fraction {
            add("per_process_memory_fraction", part.to_string());
        }
        if self.roundup_power2_divisions != default.roundup_power2_divisions {
            add("roundup_power2_divisions", divisions::text(&self.roundup_power2_divisions));
        }
        if self.large_segment_bytes != default.large_segment_bytes {
            add("large_segment_size_mb", (self.large_segment_bytes / MIB).to_string());
        }
        parts.join(",")
    }
}

fn mebibytes(text: &str) -> Option<u64> {
    text.parse::<u64>().ok()?.checked_mul(MIB).filter(|&bytes| bytes < device::UNLIMITED_BYTES)
}

/// `key:value` or `key=value` between commas, where lists in brackets have commas of their own.
fn pairs(text: &str) -> Vec<(&str, &str)> {
    let mut depth = 0usize;
    let parts = text.split(move |c: char| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    let parts = parts.map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| part.split_once([':', '=']).unwrap_or((part, ""))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_text_of_the_environment_is_read() {
        let mut settings = Settings::default();
        let text = "expandable_segments:True,max_split_size_mb:64,roundup_power2_divisions:[64:8,256:4,>:1]";
        settings.set_all(text).expect("the text is valid");
        assert!(settings.expandable_segments);
        assert_eq!(settings.max_split_bytes, Some(64 * MIB));
        assert_eq!(settings.roundup_power2_divisions[..10], [8, 8, 8, 8, 8, 8, 8, 0, 4, 1]);
        assert_eq!(
            settings.conf(),
            "expandable_segments:True,max_split_size_mb:64,\
            roundup_power2_divisions:[64:8,256:4,>:1]"
        );
    }

    #[test]
    fn what_torch_refuses_is_refused() {
        let mut settings = Settings::default();
        for (key, value) in [
            ("max_split_size_mb", "20"),
            ("max_split_size_mb", "much"),
            ("expandable_segments", "maybe"),
            ("garbage_collection_threshold", "1.5"),
            ("per_process_memory_fraction", "0"),
            ("roundup_power2_divisions", "3"),
            ("roundup_power2_divisions", "[3:4]"),
            ("pinned_use_background_threads", "True"),
        ] {
            let error = settings.set(key, value).expect_err("torch does not take this");
            assert!(error.to_string().contains(key), "{error}");
        }
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn the_snapshot_says_what_was_set() {
        let setting = |name: &str, value| Setting { name: name.to_owned(), value };
        let text = "max_split_size_mb:64,max_non_split_rounding_mb:128,large_segment_size_mb:64";
        let table =
            (0..16).map(|class| setting(&(1u64 << class).to_string(), SettingValue::Int(4))).collect();
        let snapshot = Snapshot {
            settings: vec![
                setting("PYTORCH_CUDA_ALLOC_CONF", SettingValue::Text(text.to_owned())),
                setting("max_split_size", SettingValue::Int(-1)),
                setting("roundup_power2_divisions", SettingValue::Table(table)),
            ],
            ..Snapshot::default()
        };
        let settings = Settings::recorded(&snapshot);
        // The setting's own key counts: the program may have changed it.
        assert_eq!(settings.max_split_bytes, None);
        assert_eq!(settings.max_non_split_rounding_bytes, 128 * MIB);
        assert_eq!(settings.large_segment_bytes, 64 * MIB);
        assert_eq!(settings.roundup_power2_divisions, [4; 16]);
    }

    proptest! {
        #[test]
        fn odd_text_is_refused_without_panicking(text in ".{0,40}") {
            let mut settings = Settings::default();
            settings.set_all(&text).ok();
            divisions::parse(&text);
        }
    }
}
