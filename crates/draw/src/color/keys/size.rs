//! By size, in classes of a ramp.

use super::key::{Colored, Key, KeyRow};
use crate::color::color_by::{ColorBy, ColorKey};
use crate::color::palette::{Palette, Rgb};
use oomscope_model::allocator_sizes::{LARGE_BUFFER, SMALL_BUFFER};
use oomscope_model::{Bytes, Timeline};
use oomscope_units as units;
use std::sync::Arc;

/// Lower bounds of the size classes, in bytes; the first is 0. 2 MiB and 20 MiB are the sizes of torch's
/// small and large segments, the others are round numbers around them.
const SIZES_BYTES: [Bytes; 7] = [
    Bytes::ZERO,
    Bytes(512 << 10),
    SMALL_BUFFER,
    LARGE_BUFFER,
    Bytes(100 << 20),
    Bytes(500 << 20),
    Bytes(2 << 30),
];

pub(super) const KEY: KeyRow =
    KeyRow { by: ColorBy::Size, name: "size", of: |_, _, palette| Arc::new(BySize(*palette)) };

#[derive(Debug)]
struct BySize(Palette);

impl Key for BySize {
    fn class_count(&self) -> usize {
        SIZES_BYTES.len()
    }

    fn class(&self, of: &Colored<'_>) -> u8 {
        size_class(of.bytes())
    }

    fn class_color(&self, class: usize) -> Rgb {
        self.0.ramp(class as f32 / (SIZES_BYTES.len() - 1) as f32)
    }

    fn legend(&self, _timeline: &Timeline) -> Vec<ColorKey> {
        let key = |(class, &low): (usize, &Bytes)| {
            let (low_label, low) = (units::bytes_short(low), short(low));
            let (label, query) = match SIZES_BYTES.get(class + 1) {
                Some(&high) if class == 0 => {
                    (format!("below {}", units::bytes_short(high)), format!("size<{}", short(high)))
                }
                Some(&high) => (format!("from {low_label}"), format!("size>={low} size<{}", short(high))),
                None => (format!("from {low_label}"), format!("size>={low}")),
            };
            ColorKey { label, color: self.class_color(class), query: Some(query) }
        };
        SIZES_BYTES.iter().enumerate().map(key).collect()
    }
}

/// Index into [`SIZES_BYTES`]; sizes below 0, which a file may have, are in the first class.
fn size_class(bytes: Bytes) -> u8 {
    SIZES_BYTES.partition_point(|&low| low <= bytes).saturating_sub(1) as u8
}

/// A size as the filter reads it: `512KiB`.
fn short(bytes: Bytes) -> String {
    units::bytes_short(bytes).replace(' ', "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_analysis::filter;
    use oomscope_fixtures::timelines as fixture;

    #[test]
    fn classes_cover_every_value() {
        let sizes = [-5, 0, 512 << 10, (2 << 20) - 1, i64::MAX].map(Bytes);
        assert_eq!(sizes.map(size_class), [0, 0, 1, 1, 6]);
    }

    #[test]
    fn size_classes_are_named_as_filters_read_them() {
        let keys = BySize(Palette::DARK).legend(&fixture::timeline(&[]));
        let queries: Vec<&str> = keys.iter().filter_map(|key| key.query.as_deref()).collect();
        assert_eq!(queries[0], "size<512KiB");
        assert_eq!(queries[1], "size>=512KiB size<2MiB");
        assert_eq!(queries[6], "size>=2GiB");
        for query in queries {
            assert!(filter::Filter::parse(query).is_ok(), "{query}");
        }
    }
}
