//! How long pictures of segments over time take, at 1920 × 1080.
//!
//! ```text
//! cargo bench --bench segments_time
//! OOMSCOPE_BENCH_FILE=big.pickle cargo bench --bench segments_time -- large
//! ```

use criterion::{Criterion, criterion_group, criterion_main};
use oomscope::analysis::{RowOrder, SegmentRows};
use oomscope::draw::{
    AddressMap, BandColors, Blocks, ColorBy, Coloring, Expanded, Palette, RowHeights, RowLayout, View,
    address_raster,
};
use oomscope::load::{Input, Progress, load};
use oomscope::model::{Snapshot, Timeline};
use std::hint::black_box;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The variable that names a large file.
const LARGE_FILE: &str = "OOMSCOPE_BENCH_FILE";

const SIZE_PX: [usize; 2] = [1920, 1080];

const HEIGHTS: RowHeights =
    RowHeights { thin_px: 10, expanded_min_px: 24, expanded_max_px: 400, gap_px: 2, fill_px: 0 };

/// Parts of the timeline that are shown, from all of it to single events.
const ZOOMS: [(&str, f64); 4] = [("all", 1.0), ("tenth", 10.0), ("thousandth", 1e3), ("events", 1e9)];

fn read(path: &Path) -> Snapshot {
    let loaded = load(&Input::File(path.to_owned()), &Progress::default());
    loaded.unwrap_or_else(|error| panic!("{error}"))
}

fn views(timeline: &Timeline) -> impl Iterator<Item = (&'static str, View)> {
    let full = View::fit(timeline);
    let (peak, _) = timeline.active.peak();
    let x = full.on(timeline).x_from_moment(f64::from(peak.0)).clamp(0.0, 1.0);
    ZOOMS.into_iter().map(move |(name, factor)| (name, full.zoom_at(x, 0.0, factor, 1.0, &full)))
}

fn pictures(c: &mut Criterion, name: &str, snapshot: &Snapshot) {
    let Some(timeline) = snapshot.main_timeline() else { return };
    let palette = &Palette::DARK;
    let stacks = Arc::new(BandColors::new(snapshot, palette));
    let coloring = &Coloring::new(ColorBy::Stack, timeline, stacks, palette);
    let blocks = Blocks { timeline, coloring, kept: None };
    let mut group = c.benchmark_group(name);
    group.sample_size(10);
    group.bench_function("rows", |b| b.iter(|| SegmentRows::build(black_box(timeline))));
    let rows = &SegmentRows::build(timeline);
    let order = rows.sorted(RowOrder::Reserved);
    for (kind, expanded) in [("thin", Expanded::Rows([0].into())), ("expanded", Expanded::All)] {
        let layout = RowLayout::new(rows, &order, &expanded, HEIGHTS);
        let bands = &layout.visible(0..SIZE_PX[1] as i64);
        for (zoom, view) in views(timeline) {
            let map = AddressMap { blocks, rows, view: &view, bands, palette };
            let paint = || address_raster::raster(black_box(map), SIZE_PX);
            group.bench_function(format!("{kind}/{zoom}"), |b| b.iter(paint));
        }
    }
    group.finish();
}

fn all(c: &mut Criterion) {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_snapshots");
    pictures(c, "sample", &read(&samples.join("frag_oom.pickle")));
    match std::env::var_os(LARGE_FILE).map(PathBuf::from) {
        Some(path) => pictures(c, "large", &read(&path)),
        None => {
            let why = format!("SKIPPED: the large file, because {LARGE_FILE} names none\n");
            std::io::stderr().write_all(why.as_bytes()).ok();
        }
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
