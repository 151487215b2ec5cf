//! By the time of the allocation, in equal parts of the recording.

use super::key::{Colored, Key, KeyRow};
use crate::color::color_by::{ColorBy, ColorKey};
use crate::color::palette::{Palette, Rgb};
use oomscope_model::Timeline;
use oomscope_units as units;
use std::sync::Arc;

/// Number of equal parts of the recording by which ages differ; more shades of one ramp look alike.
const AGES: u32 = 6;

const BEFORE: &str = "before the recording";

pub(super) const KEY: KeyRow =
    KeyRow { by: ColorBy::Age, name: "age", of: |_, _, palette| Arc::new(ByAge(*palette)) };

#[derive(Debug)]
struct ByAge(Palette);

impl Key for ByAge {
    fn class_count(&self) -> usize {
        1 + AGES as usize
    }

    fn class(&self, of: &Colored<'_>) -> u8 {
        of.event().map_or(0, |(event, events)| 1 + age_class(event, events))
    }

    fn class_color(&self, class: usize) -> Rgb {
        match class.checked_sub(1) {
            None => self.0.unknown,
            Some(age) => self.0.ramp(age as f32 / (AGES - 1) as f32),
        }
    }

    fn legend(&self, timeline: &Timeline) -> Vec<ColorKey> {
        let events = timeline.events.len();
        let before = (timeline.lifetimes.initial_count() != 0).then(|| ColorKey {
            label: BEFORE.to_owned(),
            color: self.class_color(0),
            query: Some("before".to_owned()),
        });
        let part = |age: u32| {
            // The inverse of `age_class`, so that the filter keeps exactly the events of the colour.
            let bound = |age: u32| (events as u64 * u64::from(age)).div_ceil(u64::from(AGES));
            let (low, high) = (bound(age), bound(age + 1).saturating_sub(1));
            ColorKey {
                label: format!("events {} – {}", units::count(low), units::count(high)),
                color: self.class_color(1 + age as usize),
                query: Some(format!("event:{low}..{high}")),
            }
        };
        before.into_iter().chain((0..AGES).filter(|_| AGES as usize <= events).map(part)).collect()
    }

    fn label(&self, class: usize) -> Option<String> {
        (class == 0).then(|| BEFORE.to_owned())
    }
}

/// The part of the recording, below [`AGES`], that an event lies in.
fn age_class(event: u32, events: usize) -> u8 {
    (u64::from(event) * u64::from(AGES) / (events as u64).max(1)).min(u64::from(AGES) - 1) as u8
}

#[test]
fn ages_cover_every_event() {
    assert_eq!([0, 9, 10, 59, 99].map(|event| age_class(event, 60)), [0, 0, 1, 5, 5]);
    assert_eq!(age_class(0, 0), 0);
}
