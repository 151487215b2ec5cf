//! How long one step of the cursor takes in the segment map.
//!
//! ```text
//! cargo bench -p oomscope-benches --bench segments
//! OOMSCOPE_BENCH_FILE=big.pickle cargo bench -p oomscope-benches --bench segments -- file
//! ```

use criterion::{Criterion, criterion_group, criterion_main};
use oomscope_analysis::SegmentIndex;
use oomscope_model::{
    Action, Anchor, DeviceId, Event, EventTable, Moment, PoolKey, Recording, SegmentTable, Snapshot,
    Timeline, TimelineInput,
};
use oomscope_snapshot::load::{Input, Progress, load};
use std::hint::black_box;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

/// The variable that names a large file.
const LARGE_FILE: &str = "OOMSCOPE_BENCH_FILE";

const SEGMENTS: u64 = 5_000;
const SEGMENT_BYTES: u64 = 20 << 20;
const BLOCKS_PER_SEGMENT: u64 = 10;
const REPLACED: usize = 400_000;

/// Numbers in no order, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

fn event(action: Action, addr: u64, size: i64) -> Event {
    Event { stream: Some(0), pool: Some(PoolKey::DEFAULT), ..Event::new(action, addr, size) }
}

/// 5,000 segments with 50,000 blocks, which are freed and allocated again all over the place.
fn crowded() -> Timeline {
    let mut random = Random(1);
    let place = SEGMENT_BYTES / BLOCKS_PER_SEGMENT;
    let address =
        |segment: u64, block: u64| 0x7f00_0000_0000 + segment * (SEGMENT_BYTES + (4 << 20)) + block * place;
    let mut sizes = vec![0; (SEGMENTS * BLOCKS_PER_SEGMENT) as usize];
    let mut events = EventTable::default();
    for segment in 0..SEGMENTS {
        events.push(&event(Action::SegmentAlloc, address(segment, 0), SEGMENT_BYTES as i64));
    }
    for round in 0..sizes.len() + REPLACED {
        let at = if round < sizes.len() { round } else { random.below(sizes.len() as u64) as usize };
        let addr = address(at as u64 / BLOCKS_PER_SEGMENT, at as u64 % BLOCKS_PER_SEGMENT);
        if sizes[at] != 0 {
            events.push(&event(Action::FreeRequested, addr, sizes[at]));
            events.push(&event(Action::FreeCompleted, addr, sizes[at]));
        }
        sizes[at] = random.below(place) as i64 + 1;
        events.push(&event(Action::Alloc, addr, sizes[at]));
    }
    let segments = SegmentTable::default();
    Timeline::build(TimelineInput { device: DeviceId(0), events, segments, anchor: Anchor::TraceOnly })
}

fn steps(c: &mut Criterion, name: &str, recording: &Recording) {
    let index = SegmentIndex::new(recording);
    let n = recording.moments() as u64;
    let mut random = Random(2);
    let mut group = c.benchmark_group(name);
    group.bench_function("step", |b| {
        b.iter(|| {
            let moment = Moment((n / 2 + random.below(n - n / 2)) as u32);
            index.at(recording, black_box(moment))
        });
    });
    group.bench_function("end", |b| b.iter(|| index.at(recording, black_box(Moment(n as u32 - 1)))));
    group.finish();
}

fn synthetic(c: &mut Criterion) {
    steps(c, "crowded", &Recording::only(Snapshot::default(), crowded()));
}

fn file(c: &mut Criterion) {
    let Some(path) = std::env::var_os(LARGE_FILE).map(PathBuf::from) else {
        let why = format!("SKIPPED: the large file, because {LARGE_FILE} names none\n");
        std::io::stderr().write_all(why.as_bytes()).ok();
        return;
    };
    let loaded = load(&Input::File(path), &Progress::default());
    let snapshot = loaded.unwrap_or_else(|error| panic!("{error}"));
    if let Some(recording) = Recording::main(&Arc::new(snapshot)) {
        steps(c, "file", &recording);
    }
}

criterion_group!(benches, synthetic, file);
criterion_main!(benches);
