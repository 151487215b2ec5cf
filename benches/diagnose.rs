//! How long a whole diagnosis takes: categories and iterations included, loading not.
//!
//! ```text
//! cargo bench --bench diagnose
//! OOMSCOPE_BENCH_FILE=big.pickle cargo bench --bench diagnose -- file
//! ```

#[expect(dead_code, reason = "not every bench uses all of it")]
mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use oomscope::analysis::{Attribution, UserRules};
use oomscope::diagnosis::{DiagnosisRequest, diagnose};
use oomscope::model::Snapshot;
use std::hint::black_box;
use std::time::Duration;

fn measure(c: &mut Criterion, name: &str, snapshot: &Snapshot) {
    let Some(timeline) = snapshot.main_timeline() else { return };
    let mut group = c.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    group.bench_function("diagnose", |b| {
        b.iter(|| {
            let attribution = Attribution::of(snapshot, timeline, &UserRules::default());
            black_box(diagnose(snapshot, timeline, &attribution, DiagnosisRequest::default()))
        });
    });
    group.finish();
}

fn benches(c: &mut Criterion) {
    measure(c, "frag_oom", &support::read(&support::sample("frag_oom.pickle")));
    if let Some(path) = support::large_file() {
        measure(c, "file", &support::read(&path));
    }
}

criterion_group!(all, benches);
criterion_main!(all);
