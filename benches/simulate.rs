//! How fast a recording is simulated: reading the requests and finding out about the device, one
//! setting, and a sweep.
//!
//! ```text
//! OOMSCOPE_BENCH_FILE=big.pickle cargo bench -p oomscope-benches --bench simulate
//! ```

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use oomscope_model::Recording;
use oomscope_simulator::{Settings, Subject, sweep, useful_settings};
use oomscope_snapshot::load::{Input, Progress, load};
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;

/// The variable that names a large file.
const LARGE_FILE: &str = "OOMSCOPE_BENCH_FILE";

/// Settings that take different ways through the allocator.
const CONFS: [&str; 4] =
    ["", "expandable_segments:True", "max_split_size_mb:128", "roundup_power2_divisions:8"];

fn simulating(c: &mut Criterion) {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../sample_snapshots/frag_oom.pickle");
    let path = std::env::var_os(LARGE_FILE).map_or_else(|| PathBuf::from(sample), PathBuf::from);
    let loaded = load(&Input::File(path), &Progress::default());
    let snapshot = Arc::new(loaded.unwrap_or_else(|error| panic!("{error}")));
    let Some(recording) = Recording::main(&snapshot) else { return };
    let subject = Subject::new(&recording);
    let device = subject.device();
    let mut group = c.benchmark_group("simulate");
    group.sample_size(10);
    group.throughput(Throughput::Elements(recording.events.len() as u64));
    group.bench_function("subject", |b| b.iter(|| Subject::new(black_box(&recording))));
    for conf in CONFS {
        let mut settings = Settings::default();
        settings.set_all(conf).unwrap_or_else(|error| panic!("{error}"));
        let name = if conf.is_empty() { "default" } else { conf };
        group.bench_function(name, |b| b.iter(|| subject.simulate(black_box(&settings), &device)));
    }
    let all = useful_settings(&subject, &device);
    group.bench_function(format!("sweep of {}", all.len()), |b| b.iter(|| sweep(&subject, &all, &device)));
    group.finish();
}

criterion_group!(benches, simulating);
criterion_main!(benches);
