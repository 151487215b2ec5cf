//! What the allocator settings say about sizes.

use crate::model::{SettingValue, Snapshot};

const MIB: i64 = 1 << 20;

/// Requests up to here get a segment of 2 MiB.
const MAX_SMALL: i64 = MIB;

/// Requests below this size share segments.
const MIN_OWN_SEGMENT: i64 = 10 * MIB;

/// Segments are multiples of this size.
const SEGMENT_STEP: i64 = 2 * MIB;

/// The segment of a request that does not get its own, unless set otherwise.
const LARGE_SEGMENT: i64 = 20 * MIB;

/// Whether a switch is on.
pub(super) fn is_on(snapshot: &Snapshot, name: &str) -> bool {
    let found = snapshot.settings.iter().find(|setting| setting.name == name);
    found.is_some_and(|setting| setting.value == SettingValue::Bool(true))
}

/// A setting that only stands in the text that the user wrote.
pub(super) fn in_text<'a>(snapshot: &'a Snapshot, name: &str) -> Option<&'a str> {
    let texts = snapshot.settings.iter().filter_map(|setting| match &setting.value {
        SettingValue::Text(text) if setting.name.ends_with("ALLOC_CONF") => Some(text.as_str()),
        _ => None,
    });
    let mut entries = texts.flat_map(|text| text.split(','));
    entries.find_map(|entry| {
        let (found, value) = entry.split_once(':')?;
        (found.trim() == name).then(|| value.trim())
    })
}

/// How requests become segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rounding {
    large_segment: i64,
}

impl Rounding {
    pub(super) fn new(snapshot: &Snapshot) -> Self {
        let set = in_text(snapshot, "large_segment_size_mb").and_then(|text| text.parse::<i64>().ok());
        Self { large_segment: set.map_or(LARGE_SEGMENT, |mib| mib.saturating_mul(MIB)).max(SEGMENT_STEP) }
    }

    /// What the driver is asked for when a request, rounded to blocks, needs a new segment.
    pub(super) fn segment_bytes(self, request: i64) -> i64 {
        if request <= MAX_SMALL {
            SEGMENT_STEP
        } else if request < MIN_OWN_SEGMENT {
            self.large_segment
        } else {
            let steps = request / SEGMENT_STEP + i64::from(request % SEGMENT_STEP != 0);
            steps.saturating_mul(SEGMENT_STEP)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Setting;

    fn with(text: &str) -> Snapshot {
        let value = SettingValue::Text(text.to_owned());
        let setting = Setting { name: "PYTORCH_CUDA_ALLOC_CONF".to_owned(), value };
        Snapshot { settings: vec![setting], ..Snapshot::default() }
    }

    #[test]
    fn segments_are_as_large_as_the_allocator_makes_them() {
        let sizes = |snapshot: &Snapshot| {
            let rounding = Rounding::new(snapshot);
            [512, MIB, MIB + 512, 10 * MIB, 1_052_246_016, i64::MAX].map(|size| rounding.segment_bytes(size))
        };
        let default = [2 * MIB, 2 * MIB, 20 * MIB, 10 * MIB, 1_052_770_304, i64::MAX];
        assert_eq!(sizes(&Snapshot::default()), default);
        assert_eq!(sizes(&with("large_segment_size_mb:64"))[2], 64 * MIB);
    }

    #[test]
    fn a_setting_is_found_in_the_text() {
        let snapshot = with("max_split_size_mb:64, per_process_memory_fraction:0.5");
        assert_eq!(in_text(&snapshot, "per_process_memory_fraction"), Some("0.5"));
        assert_eq!(in_text(&snapshot, "expandable_segments"), None);
        assert!(!is_on(&snapshot, "expandable_segments"));
    }
}
