//! How fast a snapshot is loaded, and how fast the finished model answers.
//!
//! ```text
//! cargo bench -p oomscope-benches --bench load
//! OOMSCOPE_BENCH_FILE=big.pickle cargo bench -p oomscope-benches --bench load -- load
//! ```
//!
//! `examples/scale.rs` writes large files; `examples/measure.rs` measures one load with its memory.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use oomscope_analysis::device_stats;
use oomscope_benches::{large_file, read, sample};
use oomscope_model::{Moment, Recording, Timeline};
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

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
    let path = large_file().unwrap_or_else(|| sample("gpt_oom_forward.pickle"));
    let snapshot = read(&path);
    let Some(recording) = Recording::main(&snapshot) else { return };
    let mut group = c.benchmark_group("questions");
    let mut at = moments(&recording);
    group.bench_function("live_at", |b| {
        b.iter(|| at.next().map(|moment| recording.lifetimes.live_at(black_box(moment)).count()));
    });
    let mut at = moments(&recording);
    group.bench_function("ranges_at", |b| {
        b.iter(|| at.next().map(|moment| recording.ranges.live_at(black_box(moment)).count()));
    });
    group.bench_function("peak_of_a_half", |b| {
        let half = recording.moments() / 4..recording.moments() * 3 / 4;
        b.iter(|| recording.active.peak_in(black_box(half.clone())));
    });
    group.bench_function("device_stats", |b| b.iter(|| device_stats(black_box(&recording))));
    group.finish();
}

criterion_group!(benches, loading, questions);
criterion_main!(benches);
