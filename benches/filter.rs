//! How fast a query finds its allocations.
//!
//! ```text
//! OOMSCOPE_BENCH_FILE=big.pickle cargo bench --bench filter
//! ```

use criterion::{Criterion, criterion_group, criterion_main};
use oomscope::analysis::filter::{Filter, Matches, Prepared, Vocabulary};
use oomscope::load::{Input, Progress, load};
use oomscope::model::Moment;
use std::hint::black_box;
use std::path::{Path, PathBuf};

/// The variable that names a large file.
const LARGE_FILE: &str = "OOMSCOPE_BENCH_FILE";

/// Something of every kind: per allocation, per stack, per context, at the cursor.
const QUERIES: [&str; 6] = [
    "size>1MB",
    "stack:attention",
    "stream:7 pool:private",
    "lifetime<10ms",
    "live size>1MB",
    "size>1MB -stack:attention|mlp stream:0 -pool:private lifetime<10ms after:100",
];

fn file() -> PathBuf {
    let sample = || Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_snapshots/gpt_oom_forward.pickle");
    std::env::var_os(LARGE_FILE).map_or_else(sample, PathBuf::from)
}

fn filtering(c: &mut Criterion) {
    let snapshot = load(&Input::File(file()), &Progress::default()).unwrap_or_else(|error| panic!("{error}"));
    let Some(timeline) = snapshot.main_timeline() else { return };
    let middle = Moment((timeline.moments() / 2) as u32);
    let mut group = c.benchmark_group("filter");
    group.sample_size(10);
    for query in QUERIES {
        let filter = Filter::parse(query).unwrap_or_else(|error| panic!("{error}"));
        group.bench_function(query, |b| {
            b.iter(|| Matches::compute(black_box(&filter), &snapshot, timeline, middle).count());
        });
        let prepared = Prepared::new(&filter, &snapshot, timeline);
        group.bench_function(format!("{query}, curve"), |b| {
            b.iter_batched(
                || prepared.matches(timeline, middle),
                |matches| matches.peak(timeline),
                criterion::BatchSize::PerIteration,
            );
        });
    }
    group.bench_function("vocabulary", |b| b.iter(|| Vocabulary::new(&snapshot, black_box(timeline))));
    group.finish();
}

criterion_group!(benches, filtering);
criterion_main!(benches);
