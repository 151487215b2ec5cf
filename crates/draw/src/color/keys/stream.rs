//! By stream.

use super::key::{Colored, Key, KeyRow};
use super::sorted::Sorted;
use crate::color::color_by::{ColorBy, ColorKey};
use crate::color::palette::Rgb;
use oomscope_model::Timeline;
use std::sync::Arc;

pub(super) const KEY: KeyRow = KeyRow {
    by: ColorBy::Stream,
    name: "stream",
    of: |timeline, _, palette| Arc::new(ByStream(Sorted::new(timeline.streams(), palette))),
};

#[derive(Debug)]
struct ByStream(Sorted<i64>);

impl Key for ByStream {
    fn class_count(&self) -> usize {
        Sorted::<i64>::CLASSES
    }

    fn class(&self, of: &Colored<'_>) -> u8 {
        self.0.class(of.stream())
    }

    fn class_color(&self, class: usize) -> Rgb {
        self.0.color(class)
    }

    fn legend(&self, _timeline: &Timeline) -> Vec<ColorKey> {
        self.0.legend(|stream| (format!("stream {stream}"), format!("stream:{stream}")))
    }
}
