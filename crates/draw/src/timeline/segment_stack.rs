//! Reserved memory as bands: every reserved range from its reservation to its release.

use super::bands::{Band, BandFill, BandTexture, Bands, NEVER, Share};
use crate::{ColorClass, Coloring, Rgb};
use oomscope_model::{AllocId, Bytes, Moment, ReservedRange, StackId, Timeline};
use std::collections::BTreeMap;
use std::ops::Range;

/// Reserved ranges in the order of their reservation. The id of a band is the index of its range.
pub struct SegmentStack<'a> {
    timeline: &'a Timeline,
    coloring: &'a Coloring,
    /// The stack that reserved each range.
    stacks: Vec<StackId>,
}

impl<'a> SegmentStack<'a> {
    /// The reserved ranges of a device.
    pub fn new(timeline: &'a Timeline, coloring: &'a Coloring) -> Self {
        Self { timeline, coloring, stacks: reserving_stacks(timeline) }
    }
}

/// The reserved range that a band stands for.
pub fn range_of_band(id: AllocId, timeline: &Timeline) -> Option<&ReservedRange> {
    timeline.ranges.all().get(id.index())
}

/// The stack that reserved each range: that of its event, else that of the segment which is left of it.
fn reserving_stacks(timeline: &Timeline) -> Vec<StackId> {
    let left: BTreeMap<u64, StackId> =
        timeline.segments.segments.iter().map(|segment| (segment.addr, segment.stack)).collect();
    let stack = |range: &ReservedRange| match (range.start.event(), range.end) {
        (Some(event), _) => timeline.events.stack(event),
        (None, None) => left.range(..=range.addr).next_back().map_or(StackId::EMPTY, |(_, &stack)| stack),
        (None, Some(_)) => StackId::EMPTY,
    };
    timeline.ranges.all().iter().map(stack).collect()
}

impl Bands for SegmentStack<'_> {
    fn moment_in(&self, moments: Range<usize>) -> Option<Moment> {
        self.timeline.reserved.peak_in(moments).map(|(moment, _)| moment)
    }

    fn total(&self, moment: Moment) -> Bytes {
        self.timeline.reserved.at(moment)
    }

    fn least_in(&self, moments: Range<usize>) -> Bytes {
        self.timeline.reserved.min_in(moments)
    }

    fn begun(&self, after: Option<Moment>, moment: Moment, mut add: impl FnMut(Band)) {
        let all = self.timeline.ranges.all();
        let first = after.map_or(0, |after| all.partition_point(|range| range.start <= after));
        let end = all.partition_point(|range| range.start <= moment);
        for (at, range) in all.iter().enumerate().take(end).skip(first) {
            if range.is_live_at(moment) {
                let class = self.coloring.class_of_reserved(self.timeline, range, self.stacks[at]);
                let (start, end) = (range.start, range.end.unwrap_or(NEVER));
                let share = Share { class, is_faded: false };
                add(Band { id: at as u32, bytes: range.size, start, end, group: 0, share });
            }
        }
    }

    fn fill(&self, id: u32, _moment: Moment) -> BandFill {
        let range = range_of_band(AllocId(id), self.timeline);
        let color = range.map_or(self.coloring.stack(StackId::EMPTY), |range| {
            self.coloring.reserved(self.timeline, range, self.stacks[id as usize])
        });
        BandFill { color, texture: BandTexture::Plain, is_faded: false }
    }

    fn classes(&self) -> usize {
        self.coloring.class_count()
    }

    fn class_color(&self, class: ColorClass) -> Rgb {
        self.coloring.class_color_of_reserved(class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::stacked::{Pixel, Raster, raster};
    use crate::{Axis, BandColors, ColorBy, Palette, View};
    use oomscope_fixtures::timelines::{self as fixture, Step};
    use oomscope_model::Snapshot;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn paint(timeline: &Timeline, view: &View, size_px: [usize; 2], by: ColorBy) -> Raster {
        let stacks = Arc::new(BandColors::new(&Snapshot::default(), &Palette::DARK));
        let coloring = Coloring::new(by, timeline, stacks, &Palette::DARK);
        raster(timeline, view, size_px, &Palette::DARK, &SegmentStack::new(timeline, &coloring))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn columns_are_as_high_as_what_is_reserved(
            raw in proptest::collection::vec((0u64..10_000, 1i64..1_000_000), 1..250),
            from in 0.0f64..0.9,
            part in 0.05f64..1.0,
        ) {
            let timeline = fixture::timeline(&fixture::segments_and_blocks(&raw));
            let full = View::fit(&timeline);
            let view = full.zoom_at(from, 0.0, 1.0 / part, 1.0, &full);
            let raster = paint(&timeline, &view, [31, 47], ColorBy::Stack);
            for x in 0..31 {
                let moments = view.on(&timeline).moments_of_column(x, 31);
                let naive = moments.clone().map(|m| timeline.reserved.at(Moment(m as u32))).max();
                let Some(moment) = raster.moments[x] else {
                    prop_assert!(moments.is_empty());
                    continue;
                };
                prop_assert_eq!(Some(timeline.reserved.at(moment)), naive);
                let sum: Bytes = timeline.ranges.live_at(moment).map(|range| range.size).sum();
                prop_assert_eq!(Some(sum), naive);
                let top = (view.y_from_bytes(sum.as_f64()) * 47.0 - 0.5).ceil().clamp(0.0, 47.0) as usize;
                let filled = (0..47).filter(|&y| raster.pixel(x, y) != Pixel::Empty).count();
                prop_assert_eq!(filled, top);
                for y in 0..47 {
                    let Pixel::Block(id) = raster.pixel(x, y) else { continue };
                    let range = range_of_band(id, &timeline).expect("a band is a range");
                    prop_assert!(range.is_live_at(moment));
                    let below = timeline.ranges.all()[..id.index()].iter().filter(|other| other.is_live_at(moment));
                    let below: Bytes = below.map(|other| other.size).sum();
                    let bytes = view.bytes_from_y((47.0 - y as f64 - 0.5) / 47.0);
                    prop_assert!(below.as_f64() - 1e-3 <= bytes && bytes <= (below + range.size).as_f64() + 1e-3);
                }
            }
        }
    }

    #[test]
    fn ranges_that_began_later_follow_those_before() {
        let mib = 1 << 20;
        let steps =
            [Step::Reserve(0, mib), Step::Reserve(1, mib), Step::Release(0, mib), Step::Reserve(4, mib)];
        let timeline = fixture::timeline(&steps);
        let stacks = Arc::new(BandColors::new(&Snapshot::default(), &Palette::DARK));
        let coloring = Coloring::new(ColorBy::Stack, &timeline, stacks, &Palette::DARK);
        let bands = SegmentStack::new(&timeline, &coloring);
        let begun = |after, moment| {
            let mut ids = Vec::new();
            bands.begun(after, Moment(moment), |band| ids.push(band.id));
            ids
        };
        assert_eq!(
            [0, 1, 2, 3, 4].map(|at| begun(None, at)),
            [vec![], vec![0], vec![0, 1], vec![1], vec![1, 2]]
        );
        assert_eq!([0, 1, 2].map(|after| begun(Some(Moment(after)), 4)), [vec![1, 2], vec![1, 2], vec![2]]);
    }

    #[test]
    fn pages_of_an_expandable_segment_are_bands_that_come_and_go() {
        let mib = 1 << 20;
        let steps = [Step::Map(0, 2 * mib), Step::Map(2, 2 * mib), Step::Unmap(0, 2 * mib)];
        let timeline = fixture::timeline(&steps);
        let view = View { axis: Axis::Event, x0: 0.0, x1: 4.0, y0: 0.0, y1: 4.0 * mib as f64 };
        let raster = paint(&timeline, &view, [4, 4], ColorBy::Stack);
        let column = |x| [3, 2, 1, 0].map(|y| raster.pixel(x, y));
        let (first, second) = (Pixel::Block(AllocId(0)), Pixel::Block(AllocId(1)));
        assert_eq!(column(0), [Pixel::Empty; 4]);
        assert_eq!(column(1), [first, first, Pixel::Empty, Pixel::Empty]);
        assert_eq!(column(2), [first, first, second, second]);
        assert_eq!(column(3), [second, second, Pixel::Empty, Pixel::Empty]);
    }

    #[test]
    fn colours_follow_what_is_asked() {
        let mib = 1 << 20;
        let timeline = fixture::timeline(&[Step::Reserve(0, mib), Step::Reserve(1, 30 * mib)]);
        let view = View { x0: 2.0, x1: 3.0, y0: 0.0, y1: 31.0 * mib as f64, axis: Axis::Event };
        let color = |by, y: usize| paint(&timeline, &view, [1, 31], by).rgba[y * 4..y * 4 + 3].to_vec();
        assert_eq!(color(ColorBy::Stream, 30), color(ColorBy::Stream, 10));
        assert_ne!(color(ColorBy::Size, 30), color(ColorBy::Size, 10));
        assert_ne!(color(ColorBy::Allocation, 30), color(ColorBy::Allocation, 10));
    }
}
