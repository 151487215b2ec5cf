//! How long the exact picture of a view takes, at 1920 × 1080.
//!
//! ```text
//! cargo bench --bench draw
//! OOMSCOPE_BENCH_FILE=big.pickle cargo bench --bench draw -- large
//! ```

use criterion::{Criterion, criterion_group, criterion_main};
use oomscope::draw::{BandColors, Blocks, ColorBy, Coloring, Painted, Palette, View};
use oomscope::load::{Input, Progress, load};
use oomscope::model::{Snapshot, Timeline};
use std::hint::black_box;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The variable that names a large file.
const LARGE_FILE: &str = "OOMSCOPE_BENCH_FILE";

const SIZE_PX: [usize; 2] = [1920, 1080];

/// Parts of the timeline that are shown, from all of it to single events.
const ZOOMS: [(&str, f64); 4] = [("all", 1.0), ("tenth", 10.0), ("thousandth", 1e3), ("events", 1e9)];

fn read(path: &Path) -> Snapshot {
    let loaded = load(&Input::File(path.to_owned()), &Progress::default());
    loaded.unwrap_or_else(|error| panic!("{error}"))
}

fn views(timeline: &Timeline) -> impl Iterator<Item = (&'static str, View)> {
    let full = View::fit(timeline);
    let (peak, _) = timeline.active.peak();
    let x = full.x_from_position(f64::from(peak.0)).clamp(0.0, 1.0);
    ZOOMS.into_iter().map(move |(name, factor)| (name, full.zoom_at(x, 0.0, factor, 1.0, &full)))
}

fn pictures(c: &mut Criterion, name: &str, snapshot: &Snapshot) {
    let Some(timeline) = snapshot.main_timeline() else { return };
    let stacks = Arc::new(BandColors::new(snapshot, &Palette::DARK));
    let coloring = Coloring::new(ColorBy::Stack, timeline, stacks, &Palette::DARK);
    let blocks = Blocks { timeline, coloring: &coloring, kept: None };
    let mut group = c.benchmark_group(name);
    group.sample_size(10);
    for (zoom, view) in views(timeline) {
        let paint = || Painted::paint(black_box(timeline), &view, SIZE_PX, &Palette::DARK, &blocks);
        group.bench_function(zoom, |b| b.iter(paint));
    }
    group.finish();
}

fn all(c: &mut Criterion) {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_snapshots");
    pictures(c, "sample", &read(&samples.join("gpt_oom_forward.pickle")));
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
