//! The holes of reserved memory at some moments.

use super::segment_state::SegmentIndex;
use oomscope_model::{Bytes, Moment, Timeline};
use rayon::prelude::*;

/// The holes of a moment, as its segment map has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HolesAt {
    /// The moment.
    pub moment: Moment,
    /// Free bytes in all holes.
    pub free_bytes: Bytes,
    /// Bytes of the largest hole.
    pub largest_bytes: Bytes,
    /// Number of holes.
    pub count: usize,
}

impl HolesAt {
    /// The share of the free bytes that is not in the largest hole, from 0 to 1; `None` without free bytes.
    pub fn fragmentation(&self) -> Option<f64> {
        (0 < self.free_bytes).then(|| 1.0 - self.largest_bytes.as_f64() / self.free_bytes.as_f64())
    }
}

/// The holes at some moments, in their order. Each takes as long as the segment map of its moment.
pub fn holes_at(index: &SegmentIndex, timeline: &Timeline, moments: &[Moment]) -> Vec<HolesAt> {
    let at = |&moment: &Moment| {
        let total = index.at(timeline, moment).total;
        HolesAt {
            moment,
            free_bytes: total.hole_bytes,
            largest_bytes: total.largest_hole_bytes,
            count: total.holes,
        }
    };
    moments.par_iter().map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oomscope_fixtures::alone;
    use oomscope_fixtures::timelines as fixture;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn holes_are_what_is_reserved_and_in_no_block(
            raw in prop::collection::vec((0u64..96, 1i64..(1 << 20)), 1..60),
        ) {
            let recording = alone(fixture::timeline(&fixture::segments_and_blocks(&raw)));
            let index = SegmentIndex::new(&recording);
            let moments: Vec<Moment> = (0..recording.moments() as u32).map(Moment).collect();
            for holes in holes_at(&index, &recording, &moments) {
                let rounded: Bytes = recording
                    .lifetimes
                    .live_at(holes.moment)
                    .map(|id| (recording.size(id) + Bytes(511)) / 512 * 512)
                    .sum();
                prop_assert_eq!(holes.free_bytes, recording.reserved.at(holes.moment) - rounded);
                prop_assert!(holes.largest_bytes <= holes.free_bytes);
                prop_assert_eq!(holes.largest_bytes == 0, holes.count == 0);
                let share = holes.fragmentation();
                prop_assert!(share.is_none_or(|share| (0.0..1.0).contains(&share)));
                prop_assert!(holes.count != 1 || share == Some(0.0));
            }
        }
    }
}
