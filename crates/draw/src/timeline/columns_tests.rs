//! Columns and a naive version of them agree, pixel by pixel.

use super::*;
use crate::timeline::bands::{BlockFilter, Blocks};
use crate::timeline::envelope;
use crate::timeline::stacked::{Pixel, Raster, raster};
use crate::{Axis, BandColors, ColorBy, Coloring};
use oomscope_fixtures::timelines::{self as fixture, Step};
use oomscope_model::{AllocId, Bytes, Snapshot};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Powers of two, so that edges of columns and rows are exact.
const SIZE_PX: [usize; 2] = [32, 64];

fn coloring(by: ColorBy, timeline: &Timeline) -> Coloring {
    let stacks = Arc::new(BandColors::new(&Snapshot::default(), &Palette::DARK));
    Coloring::new(by, timeline, stacks, &Palette::DARK)
}

fn paint(timeline: &Timeline, view: &View, coloring: &Coloring, filter: Option<BlockFilter<'_>>) -> Raster {
    let blocks = Blocks { timeline, coloring, filter };
    raster(timeline, view, SIZE_PX, &Palette::DARK, &blocks)
}

/// Allocations and frees of sizes of all classes; most are small, and many are live at once.
fn history() -> impl Strategy<Value = Vec<Step>> {
    let size = prop_oneof![4 => 1i64..600_000, 2 => 1i64..4_000_000, 1 => 1i64..700_000_000];
    proptest::collection::vec((0u64..220, size, 0u8..4), 1..700).prop_map(|raw| {
        let mut live = BTreeMap::new();
        let mut steps = Vec::new();
        for (slot, size, kind) in raw {
            match live.remove(&slot) {
                None => {
                    live.insert(slot, size);
                    steps.push(Step::Alloc(slot, size));
                }
                Some(size) if kind == 0 => {
                    live.insert(slot, size);
                    steps.push(Step::Request(slot, size));
                }
                Some(size) => steps.push(Step::Free(slot, size)),
            }
        }
        steps
    })
}

/// The parts of a column, from the bottom: a block, or a share with the bytes of its blocks.
fn naive(blocks: &Blocks<'_>, view: &View, moment: Moment) -> Vec<(Pixel, Bytes)> {
    let timeline = blocks.timeline;
    let row_bytes = view.height_bytes() / SIZE_PX[1] as f64;
    let mut parts = Vec::new();
    let mut run: BTreeMap<Share, Vec<AllocId>> = BTreeMap::new();
    let end_run = |run: &mut BTreeMap<Share, Vec<AllocId>>, parts: &mut Vec<(Pixel, Bytes)>| {
        for (share, ids) in std::mem::take(run) {
            parts.push((Pixel::Share(share), ids.iter().map(|&id| timeline.size(id)).sum()));
        }
    };
    for id in timeline.lifetimes.live_at(moment) {
        if row_bytes <= timeline.size(id).as_f64() {
            end_run(&mut run, &mut parts);
            parts.push((Pixel::Block(id), timeline.size(id)));
        } else {
            run.entry(blocks.share(id)).or_default().push(id);
        }
    }
    end_run(&mut run, &mut parts);
    parts
}

/// The pixels of a column from the bottom: a pixel shows what its middle lies in.
fn naive_pixels(parts: &[(Pixel, Bytes)], view: &View) -> Vec<Pixel> {
    let row = |bytes: Bytes| {
        let rows = view.y_from_bytes(bytes.as_f64()) * SIZE_PX[1] as f64;
        (rows - 0.5).ceil().clamp(0.0, SIZE_PX[1] as f64) as usize
    };
    let mut pixels = vec![Pixel::Empty; SIZE_PX[1]];
    let mut below = Bytes::ZERO;
    for &(pixel, bytes) in parts {
        pixels[row(below)..row(below + bytes)].fill(pixel);
        below += bytes;
    }
    pixels
}

fn any_view(timeline: &Timeline, axis: Axis, [x, y]: [f64; 2], [part_x, part_y]: [f64; 2]) -> View {
    let full = View::fit_on(timeline, axis);
    full.zoom_at(x, y, 1.0 / part_x, 1.0 / part_y, &full)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_pixel_shows_what_is_live_there(
        steps in history(),
        at in [0.0f64..1.0, 0.0f64..1.0],
        part in [0.02f64..1.0, 0.02f64..1.0],
        is_filtered in any::<bool>(),
        is_timed in any::<bool>(),
    ) {
        let times_us: Vec<i64> = (0..steps.len() as i64).map(|i| 100 + i * i % 97 + i * 20).collect();
        let timeline = fixture::timed(&steps, &times_us);
        let axis = if is_timed { Axis::Time } else { Axis::Event };
        let view = any_view(&timeline, axis, at, part);
        let coloring = coloring(ColorBy::Size, &timeline);
        let keeps = |id: AllocId| !id.0.is_multiple_of(3);
        let filter = is_filtered.then_some(BlockFilter { contains: &keeps, hides_rest: false });
        let blocks = Blocks { timeline: &timeline, coloring: &coloring, filter };
        let raster = paint(&timeline, &view, &coloring, filter);
        let is_coarse = envelope::is_coarse(&timeline, &view, SIZE_PX[0]);
        for x in 0..SIZE_PX[0] {
            let moments = view.on(&timeline).moments_of_column(x, SIZE_PX[0]);
            let highest = moments.map(|m| timeline.active.at(Moment(m as u32))).max();
            let Some(moment) = raster.moments[x] else {
                prop_assert_eq!(highest, None);
                continue;
            };
            let parts = naive(&blocks, &view, moment);
            // The height is the exact maximum, and what is in it are the bytes of that instant.
            prop_assert_eq!(parts.iter().map(|&(_, bytes)| bytes).sum::<Bytes>(), timeline.active.at(moment));
            let shown_bytes = Some(timeline.active.at(moment));
            prop_assert!(shown_bytes == highest || is_coarse && highest < shown_bytes, "narrow valleys are filled");
            let shown: Vec<Pixel> = (0..SIZE_PX[1]).rev().map(|y| raster.pixel(x, y)).collect();
            prop_assert_eq!(shown, naive_pixels(&parts, &view), "column {}", x);
            for y in 0..SIZE_PX[1] {
                // What comes and goes is paler.
                let Pixel::Share(share) = raster.pixel(x, y) else { continue };
                if is_coarse {
                    continue;
                }
                let Rgb(r, g, b) = coloring.class_color(share.class);
                let pixel = (y * SIZE_PX[0] + x) * 4;
                let is_own = raster.rgba[pixel..pixel + 3] == [r, g, b];
                prop_assert_eq!(is_own, !share.is_faded, "the legend's colour");
            }
        }
    }

    #[test]
    fn a_view_that_moves_changes_no_column(
        steps in history(),
        column_events in 1.0f64..9.0,
        by in [0usize..12, 0usize..30],
    ) {
        let timeline = fixture::timeline(&steps);
        let coloring = coloring(ColorBy::Size, &timeline);
        let column_events = column_events.floor();
        let row_bytes = (timeline.active.peak().1.as_f64() / 40.0).max(1.0).floor();
        let at = |x: usize, y: usize| View {
            axis: Axis::Event,
            x0: x as f64 * column_events,
            x1: (x + SIZE_PX[0]) as f64 * column_events,
            y0: y as f64 * row_bytes,
            y1: (y + SIZE_PX[1]) as f64 * row_bytes,
        };
        let before = paint(&timeline, &at(0, 0), &coloring, None);
        let after = paint(&timeline, &at(by[0], by[1]), &coloring, None);
        for x in by[0]..SIZE_PX[0] {
            for row in by[1]..SIZE_PX[1] {
                let (from, to) = (SIZE_PX[1] - 1 - row, SIZE_PX[1] - 1 - (row - by[1]));
                prop_assert_eq!(before.pixel(x, from), after.pixel(x - by[0], to), "{} {}", x, row);
            }
        }
    }
}

/// A loop whose turns are about three columns wide: a turn makes some blocks, the last of which are large, and lets them go.
#[test]
fn turns_that_are_narrower_than_columns_can_show_make_no_comb() {
    let size = |slot: u64| if 15 < slot { 4 << 20 } else { 1 << 20 };
    let turn = |_| {
        let made = (1..=20).map(move |slot| Step::Alloc(slot, size(slot)));
        made.chain((1..=20).map(move |slot| Step::Free(slot, size(slot))))
    };
    let steps: Vec<Step> = std::iter::once(Step::Alloc(0, 16 << 20)).chain((0..270).flat_map(turn)).collect();
    let timeline = fixture::timeline(&steps);
    let coloring = coloring(ColorBy::Size, &timeline);
    let blocks = Blocks { timeline: &timeline, coloring: &coloring, filter: None };
    let (view, size_px) = (View::fit(&timeline), [800, 64]);
    let raster = raster(&timeline, &view, size_px, &Palette::DARK, &blocks);
    let column = |x: usize| {
        let pixel = |y: usize| raster.rgba[(y * size_px[0] + x) * 4..][..4].to_vec();
        (0..size_px[1]).map(pixel).collect::<Vec<_>>()
    };
    let inside = 8..780;
    let changes = inside.clone().filter(|&x| column(x) != column(x + 1)).count();
    assert_eq!(changes, 0, "of {} columns", inside.len());
    // What comes and goes is paler than what stays.
    let bottom = &column(400)[63];
    let ground = Palette::DARK.window;
    assert!(bottom[..3] != [ground.0, ground.1, ground.2]);
    let totals = crate::ColumnTotals::of_view(&timeline, &view, size_px[0]);
    assert!(totals.active[8..780].iter().all(|&bytes| bytes == totals.active[400]));
}

/// A column from the bottom in letters, with how often each repeats: a digit is a block, others are shares.
fn words(raster: &Raster, x: usize) -> String {
    let rows: Vec<Pixel> = (0..raster.size_px[1]).rev().map(|y| raster.pixel(x, y)).collect();
    let name = |pixel: &Pixel| match pixel {
        Pixel::Empty => ".".to_owned(),
        Pixel::Share(share) => ["below 512K", "from 512K", "from 2M"][usize::from(share.class.0)].to_owned(),
        Pixel::Block(id) => format!("block {}", id.0),
    };
    let parts = rows.chunk_by(|a, b| a == b).map(|part| format!("{} × {}", part.len(), name(&part[0])));
    parts.collect::<Vec<_>>().join(", ")
}

#[test]
fn between_large_blocks_lie_shares_in_the_order_of_the_legend() {
    const KIB: i64 = 1 << 10;
    // 16 MiB that live on, with pairs of a block of 1 MiB and two of 256 KiB below, between and above.
    let pair = |slot| [(slot, 1024 * KIB), (slot + 1, 256 * KIB), (slot + 2, 256 * KIB)];
    let groups = [pair(0), pair(3), [(6, 16_384 * KIB); 3], pair(7), [(10, 16_384 * KIB); 3], pair(11)];
    let mut blocks: Vec<(u64, i64)> = groups.into_iter().flatten().collect();
    blocks.dedup();
    let steps: Vec<Step> = blocks.into_iter().map(|(slot, bytes)| Step::Alloc(slot, bytes)).collect();
    let timeline = fixture::timeline(&steps);
    let coloring = coloring(ColorBy::Size, &timeline);
    // A row is 1.5 MiB high.
    let view = View { y1: 64.0 * 1536.0 * KIB as f64, x0: 14.0, x1: 15.0, ..View::fit(&timeline) };
    let raster = paint(&timeline, &view, &coloring, None);
    assert_eq!(
        words(&raster, 28),
        "1 × below 512K, 1 × from 512K, 11 × block 6, 1 × from 512K, 10 × block 10, 1 × below 512K, 39 × ."
    );
}

#[test]
fn blocks_that_come_and_go_within_a_column_have_the_colour_of_the_legend_alone() {
    const MIB: i64 = 1 << 20;
    let brief = (0..160).flat_map(|i| [Step::Alloc(1 + i % 2, 8 * MIB), Step::Free(1 + i % 2, 8 * MIB)]);
    let steps: Vec<Step> = [Step::Alloc(0, 20 * MIB)].into_iter().chain(brief).collect();
    let timeline = fixture::timeline(&steps);
    let coloring = coloring(ColorBy::Size, &timeline);
    let view = View { y0: 0.0, y1: 64.0 * MIB as f64, ..View::fit(&timeline) };
    let colors = |view: &View| {
        let raster = paint(&timeline, view, &coloring, None);
        assert_eq!(raster.pixel(20, 64 - 21), raster.pixel(20, 64 - 28), "one block, which can be picked");
        let distinct: std::collections::BTreeSet<&[u8]> =
            (20..28).map(|row| &raster.rgba[((63 - row) * 32 + 20) * 4..][..3]).collect();
        distinct.len()
    };
    assert_eq!(colors(&view), 1, "no edge");
    let near = View { x0: 100.0, x1: 132.0, ..view };
    assert_eq!(colors(&View { x1: 101.0, ..near }), 1 + 1, "its edge");
}

#[test]
fn negative_sizes_of_a_damaged_file_lower_the_stack() {
    let steps = [Step::Alloc(0, 40), Step::Alloc(1, -20), Step::Alloc(2, 10)];
    let timeline = fixture::timeline(&steps);
    let view = View { axis: Axis::Event, x0: 3.0, x1: 4.0, y0: 0.0, y1: 64.0 };
    let coloring = coloring(ColorBy::Allocation, &timeline);
    let raster = paint(&timeline, &view, &coloring, None);
    let filled = (0..64).filter(|&y| raster.pixel(0, y) != Pixel::Empty).count();
    assert_eq!(filled as i64, timeline.active.at(Moment(3)));
}
