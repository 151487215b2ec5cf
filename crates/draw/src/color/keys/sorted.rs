//! Values in their order, each with a class, such as streams.

use crate::color::color_by::ColorKey;
use crate::color::palette::{Palette, Rgb};

/// Number of values that have a class of their own. Colours repeat after eight, so later ones share the class of their colour.
const OWN_CLASSES: usize = 24;

/// Number of colours after which they repeat.
const CLASS_COLORS: usize = 8;

/// Sorted values.
#[derive(Debug)]
pub(super) struct Sorted<T> {
    values: Vec<T>,
    palette: Palette,
}

impl<T: Ord + Copy> Sorted<T> {
    /// Number of classes; the last one is that of values that are not there.
    pub(super) const CLASSES: usize = OWN_CLASSES + CLASS_COLORS + 1;

    pub(super) fn new(values: Vec<T>, palette: &Palette) -> Self {
        debug_assert!(values.is_sorted_by(|a, b| a < b), "each value is there once, in order");
        Self { values, palette: *palette }
    }

    pub(super) fn class(&self, value: Option<T>) -> u8 {
        (match value.and_then(|value| self.values.binary_search(&value).ok()) {
            None => Self::CLASSES - 1,
            Some(at) if at < OWN_CLASSES => at,
            Some(at) => OWN_CLASSES + at % CLASS_COLORS,
        }) as u8
    }

    pub(super) fn color(&self, class: usize) -> Rgb {
        if class < Self::CLASSES - 1 { self.palette.class(class) } else { self.palette.unknown }
    }

    /// The legend, of which `name` gives label and filter of a value.
    pub(super) fn legend(&self, name: impl Fn(T) -> (String, String)) -> Vec<ColorKey> {
        let key = |(at, &value)| {
            let (label, query) = name(value);
            ColorKey { label, color: self.palette.class(at), query: Some(query) }
        };
        self.values.iter().enumerate().map(key).collect()
    }
}

#[test]
fn classes_after_the_last_of_their_own_share_a_colour() {
    let sorted = Sorted::new((0..60_i64).collect(), &Palette::DARK);
    for value in 0..60 {
        let class = usize::from(sorted.class(Some(value)));
        assert_eq!(class % CLASS_COLORS, value as usize % CLASS_COLORS);
        assert!(class < OWN_CLASSES + CLASS_COLORS);
    }
    assert_eq!(usize::from(sorted.class(Some(99))), OWN_CLASSES + CLASS_COLORS);
}
