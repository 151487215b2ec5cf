//! The picture and the model agree.

use super::*;
use crate::segment_timeline::geometry::{Bar, TOUCH_PX, bar};
use crate::segment_timeline::layout::{Expanded, RowHeights, RowLayout};
use crate::{Axis, BandColors, BlockFilter, ColorBy, Coloring, Pixel};
use oomscope_fixtures::timelines::{self as fixture, Step};
use oomscope_model::Snapshot;
use oomscope_model::Timeline;
use proptest::prelude::*;
use std::sync::Arc;

const MIB: i64 = 1 << 20;

/// Most of a pixel's height that rounding may give to a neighbour.
const SLACK_PX: f64 = TOUCH_PX + 1e-6;

struct Scene {
    timeline: Timeline,
    rows: SegmentRows,
    bands: Vec<RowBand>,
}

impl Scene {
    fn new(steps: &[Step], window: Range<i64>, expanded: &Expanded) -> Self {
        let timeline = fixture::timeline(steps);
        let rows = SegmentRows::build(&timeline);
        let heights =
            RowHeights { thin_px: 5, expanded_min_px: 9, expanded_max_px: 40, gap_px: 1, fill_px: 0 };
        let order: Vec<u32> = (0..rows.rows().len() as u32).collect();
        let bands = RowLayout::new(&rows, &order, expanded, heights).visible(window);
        Self { timeline, rows, bands }
    }

    fn paint(&self, view: &View, size_px: [usize; 2], contains: &(dyn Fn(AllocId) -> bool + Sync)) -> Raster {
        let stacks = Arc::new(BandColors::new(&Snapshot::default(), &Palette::DARK));
        let coloring = Coloring::new(ColorBy::Stack, &self.timeline, stacks, &Palette::DARK);
        let filter = Some(BlockFilter { contains, hides_rest: false });
        let blocks = Blocks { timeline: &self.timeline, coloring: &coloring, filter };
        let map = SegmentTimelineScene {
            blocks,
            rows: &self.rows,
            view,
            bands: &self.bands,
            palette: &Palette::DARK,
            selected: None,
        };
        raster(map, size_px)
    }

    /// The parts of a pixel, in height and in time, that a bar takes.
    fn parts(&self, id: AllocId, moments: &Range<usize>, y: usize) -> (f64, f64) {
        let Some(bar) = bar(&self.timeline, &self.rows, &self.bands, id) else { return (0.0, 0.0) };
        let high = bar.y_px[1].min(y as f64 + 1.0) - bar.y_px[0].max(y as f64);
        let first = moments.start.max(bar.start.index());
        let long = moments.end.min(bar.end.index()).saturating_sub(first);
        (high, long as f64 / moments.len() as f64)
    }

    /// True if a reserved range touches a pixel in the column's time, by how much of its height.
    fn reserved(&self, moments: &Range<usize>, y: usize) -> f64 {
        let of_band = |band: &RowBand| {
            let row = &self.rows.rows()[band.row as usize];
            let px_per_byte = f64::from(band.height_px) / row.size_bytes as f64;
            let live = self
                .rows
                .ranges(band.row, &self.timeline)
                .filter(|range| moments.clone().any(|moment| range.is_live_at(Moment(moment as u32))));
            let high = live.map(|range| {
                let low = band.bottom_px() as f64 - (range.addr - row.addr) as f64 * px_per_byte;
                let top = low - range.size.as_f64() * px_per_byte;
                low.min(y as f64 + 1.0) - top.max(y as f64)
            });
            high.fold(0.0, f64::max)
        };
        self.bands.iter().map(of_band).fold(0.0, f64::max)
    }
}

fn all(_: AllocId) -> bool {
    true
}

fn alpha(raster: &Raster, x: usize, y: usize) -> u8 {
    raster.rgba[(y * raster.size_px[0] + x) * 4 + 3]
}

fn color(raster: &Raster, x: usize, y: usize) -> &[u8] {
    &raster.rgba[(y * raster.size_px[0] + x) * 4..][..3]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_pixel_shows_who_has_most_of_it(
        raw in proptest::collection::vec((0u64..10_000, 1i64..1_000_000), 1..250),
        from in 0.0f64..0.9,
        part in 0.02f64..1.0,
        scrolled in 0i64..30,
        thin in any::<bool>(),
    ) {
        let expanded = if thin { Expanded::Rows([1].into()) } else { Expanded::All };
        let scene = Scene::new(&fixture::segments_and_blocks(&raw), scrolled..scrolled + 41, &expanded);
        let full = View::fit(&scene.timeline);
        let view = full.zoom_at(from, 0.0, 1.0 / part, 1.0, &full);
        let raster = scene.paint(&view, [29, 41], &all);
        for x in 0..29 {
            let moments = view.on(&scene.timeline).moments_of_column(x, 29);
            for y in 0..41 {
                let pixel = raster.pixel(x, y);
                if moments.is_empty() {
                    prop_assert_eq!((pixel, alpha(&raster, x, y)), (Pixel::Empty, 0));
                    continue;
                }
                let ids = scene.timeline.ids();
                let parts: Vec<(f64, f64)> = ids.map(|id| scene.parts(id, &moments, y)).collect();
                let area = |&(high, long): &(f64, f64)| high.max(0.0) * long;
                let most = parts.iter().map(area).fold(0.0, f64::max);
                match pixel {
                    Pixel::Block(id) => {
                        let (high, long) = parts[id.index()];
                        prop_assert!(0.0 < long && -1e-6 < high, "{id:?} is not at {x}, {y}");
                        prop_assert!(most - SLACK_PX <= area(&(high, long)));
                    }
                    Pixel::Empty => prop_assert!(parts.iter().all(|&(high, long)| long == 0.0 || high < SLACK_PX)),
                    Pixel::Share(_) => prop_assert!(false, "pixels have one allocation each"),
                }
                let reserved = scene.reserved(&moments, y);
                if SLACK_PX < reserved {
                    prop_assert_eq!(alpha(&raster, x, y), 255);
                } else if pixel == Pixel::Empty && reserved <= 0.0 {
                    prop_assert_eq!(alpha(&raster, x, y), 0);
                }
            }
        }
    }

    #[test]
    fn up_close_the_address_under_a_pixel_is_live(
        raw in proptest::collection::vec((0u64..10_000, 100_000i64..1_000_000), 10..120),
    ) {
        let scene = Scene::new(&fixture::segments_and_blocks(&raw), 0..200, &Expanded::All);
        let moments = scene.timeline.moments();
        let view = View { axis: Axis::Event, x0: 0.0, x1: moments as f64, y0: 0.0, y1: 1.0 };
        let raster = scene.paint(&view, [moments * 2, 200], &all);
        for x in 0..moments * 2 {
            let moment = Moment(x as u32 / 2);
            prop_assert_eq!(raster.moments[x], Some(moment));
            for y in 0..200 {
                let Some(band) = scene.bands.iter().find(|band| (band.top_px..band.bottom_px()).contains(&(y as i64))) else {
                    prop_assert_eq!(raster.pixel(x, y), Pixel::Empty);
                    continue;
                };
                let row = &scene.rows.rows()[band.row as usize];
                let up = (band.bottom_px() as f64 - y as f64 - 0.5) / f64::from(band.height_px);
                let addr = row.addr + (up * row.size_bytes as f64) as u64;
                let timeline = &scene.timeline;
                let holds = |id: &AllocId| (timeline.addr(*id)..timeline.addr(*id) + timeline.size(*id).as_u64()).contains(&addr);
                // What has the middle of a pixel, and is large, has most of it.
                let holder = timeline.lifetimes.live_at(moment).find(holds);
                let is_large = |id: AllocId| 1.0 < timeline.size(id).as_f64() * f64::from(band.height_px) / row.size_bytes as f64;
                if let Some(id) = holder.filter(|&id| is_large(id)) {
                    prop_assert_eq!(raster.pixel(x, y), Pixel::Block(id));
                }
            }
        }
    }
}

#[test]
fn what_is_carried_from_block_to_block_is_what_is_there() {
    let raw: Vec<(u64, i64)> =
        (0..1200u64).map(|i| (i * i * 7919 % 10_007, (i as i64 % 97 + 1) * 9973)).collect();
    let scene = Scene::new(&fixture::segments_and_blocks(&raw), 0..60, &Expanded::All);
    // Powers of two, so that columns begin at exact positions.
    let view = View { axis: Axis::Event, x0: 0.0, x1: 1024.0, y0: 0.0, y1: 1.0 };
    let whole = scene.paint(&view, [512, 60], &all);
    // Parts of as many columns as are painted together.
    for part in 0..16 {
        let from = f64::from(part) * 64.0;
        let near = scene.paint(&View { x0: from, x1: from + 64.0, ..view }, [32, 60], &all);
        for x in 0..32 {
            for y in 0..60 {
                assert_eq!(near.pixel(x, y), whole.pixel(part as usize * 32 + x, y), "part {part}: {x}, {y}");
            }
        }
    }
}

#[test]
fn holes_are_hatched_and_what_is_not_reserved_is_empty() {
    let steps = [Step::Reserve(0, 4 * MIB), Step::Alloc(0, MIB), Step::Release(0, 4 * MIB)];
    let scene = Scene::new(&steps[..2], 0..40, &Expanded::All);
    let view = View { axis: Axis::Event, x0: 0.0, x1: 3.0, y0: 0.0, y1: 1.0 };
    let raster = scene.paint(&view, [30, 40], &all);
    assert_eq!(alpha(&raster, 5, 5), 0);
    let hole: std::collections::BTreeSet<&[u8]> = (12..28).map(|x| color(&raster, x, 5)).collect();
    assert_eq!(hole.len(), 2);
    assert_eq!(raster.pixel(25, 35), Pixel::Block(AllocId(0)));
    assert_eq!(raster.pixel(25, 25), Pixel::Empty);
}

#[test]
fn a_pixel_of_many_has_the_colour_of_one_and_is_stronger_the_fuller() {
    // Two slots of 1 MiB to a pixel.
    let steps = [Step::Reserve(0, 10 * MIB), Step::Alloc(0, 65_536), Step::Alloc(1, MIB)];
    let scene = Scene::new(&steps, 0..5, &Expanded::Rows([].into()));
    let view = View { axis: Axis::Event, x0: 1.0, x1: 4.0, y0: 0.0, y1: 1.0 };
    let raster = scene.paint(&view, [3, 5], &all);
    let shown = [0, 1, 2].map(|x| raster.pixel(x, 4));
    assert_eq!(shown, [Pixel::Empty, Pixel::Block(AllocId(0)), Pixel::Block(AllocId(1))]);
    let brightness = [0, 1, 2].map(|x| color(&raster, x, 4)[0]);
    assert!(brightness.is_sorted_by(|a, b| a < b), "{brightness:?}");
}

#[test]
fn what_waits_for_a_stream_is_striped_and_what_is_left_out_is_faint() {
    let steps = [Step::Reserve(0, MIB), Step::Alloc(0, MIB), Step::Request(0, MIB)];
    let scene = Scene::new(&steps, 0..40, &Expanded::All);
    let view = View { axis: Axis::Event, x0: 2.0, x1: 4.0, y0: 0.0, y1: 1.0 };
    let raster = scene.paint(&view, [20, 40], &all);
    assert_eq!(
        (raster.pixel(5, 20), raster.pixel(15, 20)),
        (Pixel::Block(AllocId(0)), Pixel::Block(AllocId(0)))
    );
    let column = |x: usize| (10..20).map(|y| color(&raster, x, y)).collect::<std::collections::BTreeSet<_>>();
    assert_eq!((column(5).len(), column(15).len()), (1, 2));
    let faint = scene.paint(&view, [20, 40], &|_| false);
    assert!(color(&faint, 5, 20)[0] < color(&raster, 5, 20)[0]);
}

#[test]
fn what_is_selected_is_coloured() {
    let steps = [Step::Reserve(0, MIB), Step::Alloc(0, MIB)];
    let scene = Scene::new(&steps, 0..40, &Expanded::All);
    let view = View { axis: Axis::Event, x0: 2.0, x1: 3.0, y0: 0.0, y1: 1.0 };
    let stacks = Arc::new(BandColors::new(&Snapshot::default(), &Palette::DARK));
    let coloring = &Coloring::new(ColorBy::Stack, &scene.timeline, stacks, &Palette::DARK);
    let blocks = Blocks { timeline: &scene.timeline, coloring, filter: None };
    let (rows, bands) = (&scene.rows, &scene.bands[..]);
    let [plain, selected, other] = [None, Some(StackId::EMPTY), Some(StackId(7))].map(|selected| {
        let map =
            SegmentTimelineScene { blocks, rows, view: &view, bands, palette: &Palette::DARK, selected };
        color(&raster(map, [1, 40]), 0, 20).to_vec()
    });
    assert_eq!(plain, other);
    assert!(plain[2] < selected[2]);
}

#[test]
fn a_bar_is_where_its_pixels_are() {
    let steps = [Step::Reserve(0, 4 * MIB), Step::Alloc(1, MIB), Step::Alloc(2, MIB), Step::Free(1, MIB)];
    let scene = Scene::new(&steps, 0..40, &Expanded::All);
    let found = bar(&scene.timeline, &scene.rows, &scene.bands, AllocId(0));
    assert_eq!(found, Some(Bar { start: Moment(2), end: Moment(4), y_px: [20.0, 30.0] }));
    assert_eq!(bar(&scene.timeline, &scene.rows, &[], AllocId(0)), None);
}

#[test]
fn no_size_is_too_small() {
    let scene = Scene::new(&[Step::Reserve(0, MIB), Step::Alloc(0, 512)], 0..40, &Expanded::All);
    let view = View::fit(&scene.timeline);
    for size_px in [[0, 0], [1, 0], [0, 1], [1, 1], [3, 2000]] {
        assert_eq!(scene.paint(&view, size_px, &all).size_px, size_px);
    }
}
