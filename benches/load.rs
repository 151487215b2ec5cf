//! How fast a snapshot is loaded, and how fast the finished model answers.
//!
//! ```text
//! cargo bench --bench load
//! OOMSCOPE_BENCH_FILE=big.pickle cargo bench --bench load -- load
//! ```
//!
//! `examples/scale.rs` writes large files; `examples/measure.rs` measures one load with its memory.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use oomscope::analysis::device_stats;
use oomscope::load::{Input, Progress, load};
use oomscope::model::{Moment, Snapshot, Timeline};
use std::hint::black_box;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The variable that names a large file.
const LARGE_FILE: &str = "OOMSCOPE_BENCH_FILE";

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_snapshots").join(name)
}

fn read(path: &Path) -> Snapshot {
    let loaded = load(&Input::File(path.to_owned()), &Progress::default());
    loaded.unwrap_or_else(|error| panic!("{error}"))
}

fn large_file() -> Option<PathBuf> {
    let path = std::env::var_os(LARGE_FILE).map(PathBuf::from);
    if path.is_none() {
        let why = format!("SKIPPED: the large file, because {LARGE_FILE} names none\n");
        std::io::stderr().write_all(why.as_bytes()).ok();
    }
    path
}

fn load_file(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, path: &Path) {
    let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    group.throughput(Throughput::Bytes(size));
    group.bench_function(name, |b| b.iter(|| black_box(read(path))));
}

fn loading(c: &mut Criterion) {
    let mut group = c.benchmark_group("load");
    load_file(&mut group, "sample", &sample("gpt_oom_forward.pickle"));
    load_file(&mut group, "sample_gzip", &sample("compact.pickle.gz"));
    if let Some(path) = large_file() {
        group.sample_size(10).measurement_time(Duration::from_secs(20));
        load_file(&mut group, "large", &path);
    }
    group.finish();
}

/// Moments all over a trace, in no order, the same in every run.
fn moments(timeline: &Timeline) -> impl Iterator<Item = Moment> + use<> {
    let n = timeline.moments() as u64;
    let mut state = 1u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Moment(((state >> 33) % n) as u32)
    })
}

fn questions(c: &mut Criterion) {
    let path = std::env::var_os(LARGE_FILE).map_or_else(|| sample("gpt_oom_forward.pickle"), PathBuf::from);
    let snapshot = read(&path);
    let Some(timeline) = snapshot.main_timeline() else { return };
    let mut group = c.benchmark_group("questions");
    let mut at = moments(timeline);
    group.bench_function("live_at", |b| {
        b.iter(|| at.next().map(|moment| timeline.lifetimes.live_at(black_box(moment)).count()));
    });
    let mut at = moments(timeline);
    group.bench_function("ranges_at", |b| {
        b.iter(|| at.next().map(|moment| timeline.ranges.live_at(black_box(moment)).count()));
    });
    group.bench_function("peak_of_a_half", |b| {
        let half = timeline.moments() / 4..timeline.moments() * 3 / 4;
        b.iter(|| timeline.active.peak_in(black_box(half.clone())));
    });
    group.bench_function("device_stats", |b| b.iter(|| device_stats(&snapshot, black_box(timeline))));
    group.finish();
}

criterion_group!(benches, loading, questions);
criterion_main!(benches);
