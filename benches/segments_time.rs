//! How long pictures of segments over time take, at 1920 × 1080.
//!
//! ```text
//! cargo bench -p oomscope-benches --bench segments_time
//! OOMSCOPE_BENCH_FILE=big.pickle cargo bench -p oomscope-benches --bench segments_time -- large
//! ```

use criterion::{Criterion, criterion_group, criterion_main};
use oomscope_analysis::{RowOrder, SegmentRows};
use oomscope_benches::{large_file, read, sample};
use oomscope_draw::{
    Axis, BandColors, Blocks, ColorBy, Coloring, Expanded, Palette, RowHeights, RowLayout, SegmentStack,
    SegmentTimelineRaster, SegmentTimelineScene, TimelineRaster, View,
};
use oomscope_model::{
    Action, Anchor, DeviceId, Event, EventTable, SegmentTable, Snapshot, Timeline, TimelineInput,
};
use std::hint::black_box;
use std::sync::Arc;

const SIZE_PX: [usize; 2] = [1920, 1080];

const HEIGHTS: RowHeights =
    RowHeights { thin_px: 10, expanded_min_px: 24, expanded_max_px: 400, gap_px: 2, fill_px: 0 };

/// Parts of the timeline that are shown, from all of it to single events.
const ZOOMS: [(&str, f64); 4] = [("all", 1.0), ("tenth", 10.0), ("thousandth", 1e3), ("events", 1e9)];

/// Views around the peak, and all of it by time.
fn views(timeline: &Timeline) -> Vec<(&'static str, View)> {
    let full = View::fit(timeline);
    let (peak, _) = timeline.active.peak();
    let x = full.x_from_position(f64::from(peak.0)).clamp(0.0, 1.0);
    let zoomed = ZOOMS.into_iter().map(|(name, factor)| (name, full.zoom_at(x, 0.0, factor, 1.0, &full)));
    zoomed.chain([("all by time", View::fit_on(timeline, Axis::Time))]).collect()
}

fn pictures(c: &mut Criterion, name: &str, snapshot: &Snapshot) {
    let Some(timeline) = snapshot.main_timeline() else { return };
    let palette = &Palette::DARK;
    let stacks = Arc::new(BandColors::new(snapshot, palette));
    let coloring = &Coloring::new(ColorBy::Stack, timeline, stacks, palette);
    let blocks = Blocks { timeline, coloring, filter: None };
    let mut group = c.benchmark_group(name);
    group.sample_size(10);
    group.bench_function("rows", |b| b.iter(|| SegmentRows::build(black_box(timeline))));
    let rows = &SegmentRows::build(timeline);
    let order = rows.sorted(RowOrder::Reserved);
    for (kind, expanded) in [("thin", Expanded::Rows([0].into())), ("expanded", Expanded::All)] {
        let layout = RowLayout::new(rows, &order, &expanded, HEIGHTS);
        let bands = &layout.visible(0..SIZE_PX[1] as i64);
        for (zoom, view) in views(timeline) {
            let map = SegmentTimelineScene { blocks, rows, view: &view, bands, palette, selected: None };
            let paint = || SegmentTimelineRaster::paint(black_box(map), SIZE_PX);
            group.bench_function(format!("{kind}/{zoom}"), |b| b.iter(paint));
        }
    }
    for (zoom, view) in views(timeline) {
        let bands = SegmentStack::new(timeline, coloring);
        let paint = || TimelineRaster::paint(black_box(timeline), &view, SIZE_PX, palette, &bands);
        group.bench_function(format!("stacked/{zoom}"), |b| b.iter(paint));
    }
    group.finish();
}

/// A million events with 50,000 allocations live at once, in 500 segments.
fn many_in_segments() -> Snapshot {
    const SEGMENTS: u64 = 500;
    const SLOTS: u64 = 200;
    const EVENTS: usize = 1_000_000;
    let mut random = 0x2545_f491_4f6c_dd1du64;
    let mut next = |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    let mut events = EventTable::default();
    let addr = |slot: u64| (1 << 40) + (slot / SLOTS) * (1 << 30) + (slot % SLOTS) * (1 << 20);
    for segment in 0..SEGMENTS {
        events.push(&event(Action::SegmentAlloc, addr(segment * SLOTS), (SLOTS as i64) << 20));
    }
    let mut sizes = vec![0; (SEGMENTS * SLOTS) as usize];
    // Half of the slots are taken at a time.
    while events.len() < EVENTS {
        let slot = next(SEGMENTS * SLOTS);
        let held = &mut sizes[slot as usize];
        if *held == 0 {
            *held = 512 * (1 + next(2048) as i64);
            events.push(&event(Action::Alloc, addr(slot), *held));
        } else {
            events.push(&event(Action::FreeCompleted, addr(slot), *held));
            *held = 0;
        }
    }
    let segments = SegmentTable::default();
    let input = TimelineInput { device: DeviceId(0), events, segments, anchor: Anchor::TraceOnly };
    Snapshot { timelines: vec![Timeline::build(input).into()], ..Snapshot::default() }
}

fn event(action: Action, addr: u64, size: i64) -> Event {
    Event { stream: Some(0), ..Event::new(action, addr, size) }
}

fn all(c: &mut Criterion) {
    pictures(c, "segments/sample", &read(&sample("frag_oom.pickle")));
    pictures(c, "segments/50,000 live", &many_in_segments());
    if let Some(path) = large_file() {
        pictures(c, "segments/large", &read(&path));
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
