//! The layout, the folding and the pointer against slow versions of themselves.

use super::brush::{Area, Brush as _, PixelBrush};
use super::items::MapView;
use super::*;
use crate::{Palette, Rgb};
use egui::{Color32, Rect, Vec2, pos2, vec2};
use oomscope_analysis::SegmentIndex;
use oomscope_analysis::segment_state::{Content, Part, SegmentState};
use oomscope_fixtures::alone;
use oomscope_fixtures::requests::{Request, Toy};
use proptest::prelude::*;

const SIZE: Vec2 = vec2(300.0, 200.0);

fn state(requests: &[Request]) -> SegmentState {
    let recording = alone(Toy::play(requests).timeline(0));
    let index = SegmentIndex::new(&recording);
    index.at(&recording, recording.end())
}

fn sheet(bytes_per_px: f64, grouping: MapGrouping, order: MapOrder) -> MapSheet {
    MapSheet { width_px: SIZE.x, bytes_per_px, grouping, order }
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    proptest::collection::vec(any::<Request>(), 20..200)
}

fn sheets() -> impl Strategy<Value = MapSheet> {
    let grouping = prop_oneof![Just(MapGrouping::Pool), Just(MapGrouping::None)];
    let order = prop_oneof![Just(MapOrder::Address), Just(MapOrder::Size), Just(MapOrder::Fill)];
    (8.0..900.0f64, grouping, order).prop_map(|(scale, grouping, order)| sheet(scale, grouping, order))
}

fn zooms() -> impl Strategy<Value = MapZoom> {
    (0.0..5.0f64, 0.0..500.0f64, 0.0..100.0f32).prop_map(|(power, x_px, y_px)| MapZoom {
        factor: power.exp2(),
        x_px,
        y_px,
    })
}

/// The parts under a column: bytes by part, and whether they are blocks, holes or nothing.
fn naive_dominant(parts: &[Part], low: f64, high: f64, base: u64) -> Vec<usize> {
    let bytes = |part: &Part| {
        let at = |addr: u64| addr as f64 - base as f64;
        (high.min(at(part.past_end())) - low.max(at(part.addr))).max(0.0)
    };
    let kind = |part: &Part| match part.content {
        Content::Hole => 1,
        Content::Unmapped => 2,
        _ => 0,
    };
    let sum = |k| parts.iter().filter(|part| kind(part) == k).map(bytes).sum::<f64>();
    let most = [0, 1, 2].map(sum).into_iter().fold(0.0, f64::max);
    let best = (0..parts.len()).filter(|&i| most - sum(kind(&parts[i])) < 1e-6);
    let largest = |k| parts.iter().filter(|part| kind(part) == k).map(bytes).fold(0.0, f64::max);
    best.filter(|&i| largest(kind(&parts[i])) - bytes(&parts[i]) < 1e-6).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_byte_has_one_place(requests in requests(), sheet in sheets()) {
        let state = state(&requests);
        let layout = MapLayout::new(&state, sheet);
        for (i, row) in state.rows.iter().enumerate() {
            let mut at = row.addr;
            for piece in layout.pieces_of(i) {
                prop_assert_eq!((piece.row, piece.addr), (i, at));
                at = piece.past_end;
            }
            prop_assert_eq!(at, row.past_end);
        }
        let pieces: usize = (0..state.rows.len()).map(|row| layout.pieces_of(row).len()).sum();
        prop_assert_eq!(pieces, layout.pieces.len());
        let mut bottom = 0.0;
        for line in &layout.lines {
            prop_assert!(bottom <= line.y_px, "lines do not overlap");
            bottom = line.y_px + LINE_PX;
            let mut right = 0.0;
            for piece in &layout.pieces[line.pieces.clone()] {
                let left = piece.bytes_before / sheet.bytes_per_px + f64::from(piece.gaps_px);
                prop_assert!(right <= left + 1e-6, "pieces do not overlap");
                right = left + piece.bytes() / sheet.bytes_per_px;
            }
            prop_assert!(right <= f64::from(sheet.width_px) + 1e-3);
        }
        prop_assert!((bottom - layout.height_px).abs() < 0.01 || layout.lines.is_empty());
    }

    #[test]
    fn columns_show_what_they_mostly_hold(requests in requests(), sheet in sheets(), zoom in zooms()) {
        let state = state(&requests);
        let layout = MapLayout::new(&state, sheet);
        let zoom = zoom.within(&layout, SIZE);
        let frame = MapView { state: &state, layout: &layout, zoom: &zoom, scale: 1.0 };
        let items = frame.items([SIZE.x as i32, SIZE.y as i32]);
        let per_column = zoom.bytes_per_px(&layout);
        for (i, bar) in items.bars.iter().enumerate() {
            let piece = layout.pieces[bar.piece];
            let row = &state.rows[piece.row];
            let parts = state.parts_of(row);
            let start = zoom.x_of(&layout, &piece, piece.addr);
            let mut at = bar.x.start.max(-1);
            for item in items.items.iter().filter(|item| item.bar == i) {
                prop_assert_eq!(item.x.start, at, "items tile their bar");
                at = item.x.end;
                for column in item.x.clone() {
                    let byte = |c: f64| ((c - start) * per_column).clamp(0.0, piece.bytes());
                    let (low, high) = (byte(f64::from(column)), byte(f64::from(column + 1)));
                    if high - low < 1.0 {
                        continue;
                    }
                    let best = naive_dominant(parts, low, high, piece.addr);
                    prop_assert!(best.contains(&(item.part - row.parts.start)), "{column}: {item:?}");
                    let (hit, _) = frame.part_at(&piece, column).expect("a part");
                    prop_assert_eq!(hit, item.part);
                }
            }
            prop_assert_eq!(at, bar.x.end.min(SIZE.x as i32 + 1));
        }
    }

    #[test]
    fn the_byte_under_the_pointer_stays_there(
        requests in requests(), sheet in sheets(), zoom in zooms(),
        x in 0.0..300.0f32, y in 0.0..200.0f32, factor in 0.2..6.0f64,
    ) {
        let state = state(&requests);
        let layout = MapLayout::new(&state, sheet);
        let before = zoom.within(&layout, SIZE);
        let at = pos2(x, y);
        let after = before.zoom_at(at, factor, &layout, SIZE);
        prop_assert_eq!(after, after.within(&layout, SIZE), "nothing beyond the sheet");
        let unbounded = 1.0 < after.factor && 0.0 < after.x_px
            && after.x_px + 301.0 < f64::from(layout.sheet.width_px) * after.factor;
        if let Some(piece) = before.piece_at(&layout, at).filter(|_| unbounded) {
            let byte = |zoom: &MapZoom| (f64::from(x) - zoom.x_of(&layout, piece, piece.addr)) * zoom.bytes_per_px(&layout);
            prop_assert!((byte(&before) - byte(&after)).abs() < 1e-3 * sheet.bytes_per_px);
        }
    }

    #[test]
    fn a_fitted_sheet_is_not_higher_than_asked(requests in requests(), height in 60.0..900.0f32) {
        let state = state(&requests);
        let sheet = sheet(1.0, MapGrouping::None, MapOrder::Address);
        let bytes_per_px = MapLayout::fit(&state, sheet, height);
        let layout = MapLayout::new(&state, MapSheet { bytes_per_px, ..sheet });
        let coarsest = MapLayout::new(&state, MapSheet { bytes_per_px: 1e9, ..sheet }).height_px;
        prop_assert!(layout.height_px <= height.max(coarsest * 2.5 + LINE_PX));
        prop_assert!(MIN_BYTES_PER_PX <= bytes_per_px);
    }
}

/// A map with something of everything.
fn lively() -> SegmentState {
    let mut random = 7u32;
    let mut next = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        random >> 16
    };
    let mut request = || {
        let op = [0, 0, 2, 2, 10, 18, 3, 4, 5, 2, 6, 7][next() as usize % 12];
        (op, next() as u8, next() as u8, next() as u16)
    };
    state(&(0..500).map(|_| request()).collect::<Vec<_>>())
}

#[test]
fn triangles_and_pixels_show_the_same() {
    let state = lively();
    let layout = MapLayout::new(&state, sheet(200.0, MapGrouping::Pool, MapOrder::Address));
    let zoom = MapZoom::default();
    let rect = Rect::from_min_size(pos2(10.0, 20.0), SIZE);
    let color = |id: oomscope_model::AllocId| Rgb(100 + id.0 as u8, 50, 10);
    let surface = MapSurface { rect, scale: 1.0, max_texture_px: 8192 };
    let (items, drawn) = picture(&state, &layout, &zoom, &surface, &Palette::DARK, &color);
    let MapPicture::Mesh(mesh) = drawn else { panic!("few items are triangles") };
    assert!(mesh.is_valid());
    let allocated = items
        .items
        .iter()
        .filter(|item| matches!(state.parts[item.part].content, Content::Allocated(Some(_))));
    let mut checked = 0;
    for item in allocated.filter(|item| item.x.start + 6 < item.rounding_from) {
        let Content::Allocated(Some(id)) = state.parts[item.part].content else { continue };
        let y = items.bars[item.bar].y.start + 1;
        let at = rect.min + vec2(item.x.start as f32 + 1.5, y as f32 + 0.5);
        let mut covering = mesh.vertices.chunks_exact(4).rev().filter(|quad| {
            Rect::from_points(&[quad[0].pos, quad[1].pos, quad[2].pos, quad[3].pos]).contains(at)
        });
        assert_eq!(covering.next().map(|quad| quad[0].color), Some(Color32::from(color(id))));
        checked += 1;
    }
    assert!(0 < checked);
}

#[test]
fn a_brush_stays_within_its_area_and_the_picture() {
    let mut brush = PixelBrush::new([8, 4]);
    brush.hatch(&Area::new(-5..3, 1..9), Rgb(1, 2, 3));
    brush.fill(&Area::new(6..20, -4..1), Rgb(9, 9, 9));
    let painted: Vec<usize> =
        (0..brush.pixels.len()).filter(|&i| brush.pixels[i] != Color32::TRANSPARENT).collect();
    assert!(painted.contains(&6) && painted.contains(&7));
    assert!(painted.iter().all(|i| (8 <= *i && i % 8 < 3) || [6, 7].contains(i)), "{painted:?}");
}

#[test]
fn a_point_finds_what_is_painted_there_and_places_find_the_point() {
    let state = lively();
    let layout = MapLayout::new(&state, sheet(100.0, MapGrouping::Pool, MapOrder::Address));
    let ctx = egui::Context::default();
    let painter = egui::Painter::new(ctx, egui::LayerId::background(), Rect::EVERYTHING);
    let rect = Rect::from_min_size(pos2(40.0, 30.0), vec2(300.0, 900.0));
    let zoom = MapZoom { factor: 1.5, x_px: 20.0, y_px: 3.0 };
    let gutter = Rect::NOTHING;
    let palette = &Palette::LIGHT;
    let map = SegmentMapCanvas {
        painter: &painter,
        rect,
        gutter,
        state: &state,
        layout: &layout,
        zoom: &zoom,
        palette,
    };
    let mut found = 0;
    for x in (0..300).step_by(7) {
        for y in (0..900).step_by(5) {
            let at = rect.min + vec2(x as f32 + 0.5, y as f32 + 0.5);
            let Some(hit) = map.hit(at, 1.0) else { continue };
            let part = state.parts[hit.part];
            let places = map.places(hit.row, part.addr, part.past_end());
            assert!(places.iter().any(|place| place.expand(1.0).contains(at)), "{at:?} {part:?} {places:?}");
            found += 1;
        }
    }
    assert!(100 < found);
    assert_eq!(map.hit(rect.max + vec2(1.0, 1.0), 1.0), None);
}

#[test]
fn emptiest_and_largest_come_first() {
    let state = lively();
    let first = |order| {
        let layout = MapLayout::new(&state, sheet(1e6, MapGrouping::None, order));
        layout.pieces.iter().map(|piece| piece.row).collect::<Vec<_>>()
    };
    let fill = |row: &usize| state.rows[*row].figures.fill();
    assert!(first(MapOrder::Fill).is_sorted_by(|a, b| fill(a) <= fill(b)));
    let size = |row: &usize| state.rows[*row].past_end - state.rows[*row].addr;
    assert!(first(MapOrder::Size).is_sorted_by(|a, b| size(b) <= size(a)));
    assert!(first(MapOrder::Address).is_sorted());
}

#[test]
fn a_part_of_a_map_starts_with_the_same_byte_on_any_surface() {
    let state = lively();
    let size = vec2(80.0, 50.0);
    let narrow = MapSheet { width_px: size.x, ..sheet(16.0, MapGrouping::Pool, MapOrder::Size) };
    let layout = MapLayout::new(&state, narrow);
    assert!(size.y * 4.0 < layout.height_px, "there is something to scroll");
    assert_eq!(MapPart::of(MapZoom::default(), &layout, layout.height_px), None);
    for (factor, y_px) in [(1.0, 0.0), (1.0, 71.0), (3.0, 60.0), (7.5, 110.0)] {
        let zoom = MapZoom { factor, x_px: 40.0 * (factor - 1.0), y_px }.within(&layout, size);
        let part = MapPart::of(zoom, &layout, size.y);
        assert!(part.is_some());
        let look = MapLook { grouping: MapGrouping::Pool, order: MapOrder::Size, part };
        // On the same surface, it is the same view.
        let (same, placed) = look.place(&state, size);
        assert_eq!(same, layout);
        assert_eq!((placed.factor, placed.y_px), (zoom.factor, zoom.y_px));
        assert!((placed.x_px - zoom.x_px).abs() < 1.0, "{placed:?} {zoom:?}");
        // On a larger one, as many bytes are on a line, and the first byte is the same.
        let (larger, placed) = look.place(&state, size * 2.0);
        assert!((larger.sheet.bytes_per_px * 2.0 - layout.sheet.bytes_per_px).abs() < 1e-9);
        let again = MapPart::of(placed, &larger, size.y * 2.0).expect("a part");
        let is_at_the_end = larger.height_px <= placed.y_px + size.y * 2.0 + 1.0;
        assert!(is_at_the_end || Some(again) == part, "{again:?} {part:?}");
    }
}
