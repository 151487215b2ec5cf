//! The picture and the model agree.

use super::*;
use crate::timeline::bands::Blocks;
use crate::{BandColors, ColorBy, Coloring};
use oomscope_fixtures::timelines::{self as fixture, Step};
use oomscope_model::{Bytes, Snapshot};
use proptest::prelude::*;
use std::sync::Arc;

fn paint(timeline: &Timeline, view: &View, size_px: [usize; 2]) -> Raster {
    let stacks = Arc::new(BandColors::new(&Snapshot::default(), &Palette::DARK));
    let coloring = Coloring::new(ColorBy::Stack, timeline, stacks, &Palette::DARK);
    let blocks = Blocks { timeline, coloring: &coloring, filter: None };
    raster(timeline, view, size_px, &Palette::DARK, &blocks)
}

/// Rows of a column that show anything.
fn filled(raster: &Raster, x: usize) -> usize {
    (0..raster.size_px[1]).filter(|&y| raster.pixel(x, y) != Pixel::Empty).count()
}

fn history() -> impl Strategy<Value = Vec<Step>> {
    let step = (0u64..12, 1i64..200_000, 0u8..4);
    proptest::collection::vec(step, 1..300).prop_map(|raw| {
        let mut live = std::collections::BTreeMap::new();
        let mut steps = Vec::new();
        for (slot, size, kind) in raw {
            match live.get(&slot).copied() {
                None => {
                    live.insert(slot, (size, false));
                    steps.push(Step::Alloc(slot, size));
                }
                Some((size, false)) if kind == 0 => {
                    live.insert(slot, (size, true));
                    steps.push(Step::Request(slot, size));
                }
                Some((size, _)) => {
                    live.remove(&slot);
                    steps.push(Step::Free(slot, size));
                }
            }
        }
        steps
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_picture_is_the_model(
        steps in history(),
        from in 0.0f64..0.9,
        part in 0.05f64..1.0,
        lift in 0.0f64..0.5,
    ) {
        let timeline = fixture::timeline(&steps);
        let full = View::fit(&timeline);
        let view = full.zoom_at(from, lift, 1.0 / part, 1.0 / part, &full);
        let raster = paint(&timeline, &view, [37, 53]);
        for x in 0..37 {
            let range = view.on(&timeline).moments_of_column(x, 37);
            let expected = timeline.active.peak_in(range);
            prop_assert_eq!(raster.moments[x], expected.map(|(moment, _)| moment));
            let Some((moment, active)) = expected else { continue };
            let top = (view.y_from_bytes(active.as_f64()) * 53.0 - 0.5).ceil().clamp(0.0, 53.0);
            prop_assert_eq!(filled(&raster, x), top as usize);
            for y in 0..53 {
                if let Pixel::Block(id) = raster.pixel(x, y) {
                    let live: Vec<AllocId> = timeline.lifetimes.live_at(moment).collect();
                    let below: Bytes = live.iter().take_while(|&&other| other < id).map(|&other| timeline.size(other)).sum();
                    let size = timeline.size(id);
                    let bytes = view.bytes_from_y((53.0 - y as f64 - 0.5) / 53.0);
                    prop_assert!(live.contains(&id));
                    prop_assert!(below.as_f64() - 1e-3 <= bytes && bytes <= (below + size).as_f64() + 1e-3);
                }
            }
        }
    }
}

#[test]
fn thin_blocks_are_shares_and_become_themselves_when_zoomed_in() {
    let steps: Vec<Step> = (0..500).map(|slot| Step::Alloc(slot, 1024)).collect();
    let timeline = fixture::timeline(&steps);
    let full = View::fit(&timeline);
    let far = paint(&timeline, &full, [100, 100]);
    assert!(matches!(far.pixel(99, 99), Pixel::Share(_)));
    // The bottom 20 blocks, on 100 rows: five rows each.
    let near = View { y1: 20.0 * 1024.0, ..full };
    let near = paint(&timeline, &near, [100, 100]);
    assert_eq!(near.pixel(99, 99), Pixel::Block(AllocId(0)));
    assert_eq!(near.pixel(99, 0), Pixel::Block(AllocId(19)));
}

#[test]
fn blocks_that_wait_for_a_stream_look_different() {
    let steps = [Step::Alloc(0, 4096), Step::Alloc(1, 4096), Step::Request(0, 4096)];
    let timeline = fixture::timeline(&steps);
    let view = View { x0: 2.0, x1: 4.0, y0: 0.0, y1: 8192.0, ..View::fit(&timeline) };
    let raster = paint(&timeline, &view, [20, 20]);
    assert_eq!(raster.pixel(0, 19), raster.pixel(19, 19));
    let color = |x: usize| &raster.rgba[(18 * 20 + x) * 4..][..4];
    assert_ne!(color(0), color(19));
}

#[test]
fn spans_say_where_a_block_is() {
    let timeline = fixture::timeline(&[Step::Alloc(0, 1000), Step::Alloc(1, 1000), Step::Free(0, 1000)]);
    let view = View { x0: 0.0, x1: 4.0, y0: 0.0, y1: 2000.0, ..View::fit(&timeline) };
    let raster = paint(&timeline, &view, [8, 10]);
    assert_eq!(raster.spans(AllocId(0)), [PixelSpan { x: [2, 6], y: [5, 10] }]);
    assert_eq!(
        raster.spans(AllocId(1)),
        [PixelSpan { x: [4, 6], y: [0, 5] }, PixelSpan { x: [6, 8], y: [5, 10] }]
    );
    assert_eq!(raster.spans(AllocId(7)), []);
}

#[test]
fn spans_of_a_kind_cover_what_the_kind_covers() {
    let timeline = fixture::timeline(&fixture::sawtooth(200));
    let raster = paint(&timeline, &View::fit(&timeline), [40, 60]);
    let is_kind = |id: AllocId| id.0 % 3 == 1;
    let spans = raster.spans_where(is_kind);
    for x in 0..40 {
        for y in 0..60 {
            let expected = matches!(raster.pixel(x, y), Pixel::Block(id) if is_kind(id));
            let holding = spans
                .iter()
                .filter(|span| (span.x[0]..span.x[1]).contains(&x) && (span.y[0]..span.y[1]).contains(&y));
            assert_eq!(holding.count(), usize::from(expected), "{x} {y}");
        }
    }
    assert!(!spans.is_empty());
}

#[test]
fn spans_of_pixels_find_shares_too() {
    let timeline = fixture::timeline(&fixture::sawtooth(2000));
    let raster = paint(&timeline, &View::fit(&timeline), [20, 20]);
    let spans = raster.spans_of_pixels(|pixel| matches!(pixel, Pixel::Share(_)));
    let pixels = |span: &PixelSpan| (span.x[1] - span.x[0]) * (span.y[1] - span.y[0]);
    let shares = (0..20 * 20).filter(|at| matches!(raster.pixel(at % 20, at / 20), Pixel::Share(_))).count();
    assert!(0 < shares);
    assert_eq!(spans.iter().map(pixels).sum::<usize>(), shares);
}
