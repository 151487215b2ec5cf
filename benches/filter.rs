//! The speed of queries about allocations and about events.
//!
//! ```text
//! OOMSCOPE_BENCH_FILE=big.pickle cargo bench -p oomscope-benches --bench filter
//! ```

use criterion::{Criterion, criterion_group, criterion_main};
use oomscope_analysis::UserRules;
use oomscope_analysis::filter::{EventQuery, EventSearch, Filter, Matches, Prepared, Vocabulary};
use oomscope_benches::{large_file, many_live, read, sample};
use oomscope_model::{Moment, Recording};
use std::hint::black_box;

/// Something of every kind: per allocation, per stack, per context, at the cursor.
const QUERIES: [&str; 6] = [
    "size>1MB",
    "stack:attention",
    "stream:7 pool:private",
    "lifetime<10ms",
    "live size>1MB",
    "size>1MB -stack:attention|mlp stream:0 -pool:private lifetime<10ms after:100",
];

/// As above: per event, per stack, per context, all together.
const EVENT_QUERIES: [&str; 4] =
    [">1MiB", "attention", "stream:7 pool:private", "free|oom size>1MB -mlp -stream:0 after:100"];

fn searching_events(c: &mut Criterion) {
    let snapshot = read(&large_file().unwrap_or_else(|| sample("gpt_oom_forward.pickle")));
    let Some(recording) = Recording::main(&snapshot) else { return };
    let mut group = c.benchmark_group("events");
    group.sample_size(10);
    for query in EVENT_QUERIES {
        let parsed = EventQuery::parse(query).unwrap_or_else(|error| panic!("{error}"));
        group.bench_function(query, |b| {
            b.iter(|| EventSearch::new(black_box(&parsed), &recording).matches(&recording, None).len());
        });
    }
    group.finish();
}

fn filtering(c: &mut Criterion) {
    let snapshot = read(&large_file().unwrap_or_else(|| sample("gpt_oom_forward.pickle")));
    let Some(recording) = Recording::main(&snapshot) else { return };
    let middle = Moment((recording.moments() / 2) as u32);
    let mut group = c.benchmark_group("filter");
    group.sample_size(10);
    for query in QUERIES {
        let filter = Filter::parse(query).unwrap_or_else(|error| panic!("{error}"));
        group.bench_function(query, |b| {
            b.iter(|| Matches::compute(black_box(&filter), &recording, middle).count());
        });
        let prepared = Prepared::new(&filter, &recording, &UserRules::default());
        group.bench_function(format!("{query}, curve"), |b| {
            b.iter_batched(
                || prepared.matches(&recording, middle),
                |matches| matches.peak(&recording),
                criterion::BatchSize::PerIteration,
            );
        });
    }
    group.bench_function("vocabulary", |b| b.iter(|| Vocabulary::new(black_box(&recording))));
    group.finish();
}

/// What the window asks for when the cursor moves.
fn at_the_cursor(c: &mut Criterion) {
    let recording = many_live();
    let middle = Moment((recording.moments() / 2) as u32);
    let filter = Filter::parse("size>1MB").unwrap_or_else(|error| panic!("{error}"));
    let matches = Matches::compute(&filter, &recording, middle);
    let mut group = c.benchmark_group("50,000 live");
    group.bench_function("bytes_at", |b| b.iter(|| matches.bytes_at(&recording, black_box(middle))));
    group.bench_function("count_at", |b| b.iter(|| matches.count_at(&recording, black_box(middle))));
    group.finish();
}

criterion_group!(benches, filtering, searching_events, at_the_cursor);
criterion_main!(benches);
