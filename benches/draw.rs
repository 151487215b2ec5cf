//! How long the exact picture of a view takes, at 1920 × 1080.
//!
//! ```text
//! cargo bench -p oomscope-benches --bench draw
//! OOMSCOPE_BENCH_FILE=big.pickle cargo bench -p oomscope-benches --bench draw -- large
//! ```

use criterion::{Criterion, criterion_group, criterion_main};
use oomscope_benches::{large_file, many_live, read, sample};
use oomscope_draw::{Axis, BandColors, Blocks, ColorBy, Coloring, Palette, TimelineRaster, View};
use oomscope_model::{Snapshot, Timeline};
use std::hint::black_box;
use std::sync::Arc;

const SIZE_PX: [usize; 2] = [1920, 1080];

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
    let stacks = Arc::new(BandColors::new(snapshot, &Palette::DARK));
    let coloring = Coloring::new(ColorBy::Stack, timeline, stacks, &Palette::DARK);
    let blocks = Blocks { timeline, coloring: &coloring, filter: None };
    let mut group = c.benchmark_group(name);
    group.sample_size(10);
    for (zoom, view) in views(timeline) {
        let paint = || TimelineRaster::paint(black_box(timeline), &view, SIZE_PX, &Palette::DARK, &blocks);
        group.bench_function(zoom, |b| b.iter(paint));
    }
    group.finish();
}

fn all(c: &mut Criterion) {
    pictures(c, "picture/sample", &read(&sample("gpt_oom_forward.pickle")));
    pictures(c, "picture/50,000 live", many_live().snapshot());
    if let Some(path) = large_file() {
        pictures(c, "picture/large", &read(&path));
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
