//! How long a whole diagnosis takes: categories and iterations included, loading not.
//!
//! ```text
//! cargo bench -p oomscope-benches --bench diagnose
//! OOMSCOPE_BENCH_FILE=big.pickle cargo bench -p oomscope-benches --bench diagnose -- file
//! ```

use criterion::{Criterion, criterion_group, criterion_main};
use oomscope_analysis::{Attribution, UserRules};
use oomscope_diagnosis::{DiagnosisRequest, diagnose};
use oomscope_model::{Recording, Snapshot};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

fn measure(c: &mut Criterion, name: &str, snapshot: &Arc<Snapshot>) {
    let Some(recording) = Recording::main(snapshot) else { return };
    let mut group = c.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    group.bench_function("diagnose", |b| {
        b.iter(|| {
            let attribution = Attribution::of(&recording, &UserRules::default());
            black_box(diagnose(&recording, &attribution, DiagnosisRequest::default()))
        });
    });
    group.finish();
}

fn benches(c: &mut Criterion) {
    measure(c, "frag_oom", &oomscope_benches::read(&oomscope_benches::sample("frag_oom.pickle")));
    if let Some(path) = oomscope_benches::large_file() {
        measure(c, "file", &oomscope_benches::read(&path));
    }
}

criterion_group!(all, benches);
criterion_main!(all);
