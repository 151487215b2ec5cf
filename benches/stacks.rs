//! How long the flame graph takes: building the tree, and one step of the cursor.
//!
//! ```text
//! cargo bench -p oomscope-benches --bench stacks
//! OOMSCOPE_BENCH_FILE=big.pickle cargo bench -p oomscope-benches --bench stacks -- file
//! ```

use criterion::{Criterion, criterion_group, criterion_main};
use oomscope_analysis::{
    CallTree, Clock, Direction, FrameNames, Measure, NodeIx, SiteTable, TreeOptions, stack_totals,
};
use oomscope_draw::{FlameOrder, FlameView, flame_layout};
use oomscope_model::{Frame, FrameId, Moment, Recording, Snapshot, StackId};
use std::hint::black_box;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// Different stacks, their frames, and how many different frames there are.
const STACKS: u32 = 100_000;
const DEPTH: usize = 60;
const FRAMES: u64 = 5_000;

/// The history with most blocks, with far more stacks than programs have.
fn many_stacks() -> Arc<Snapshot> {
    let mut random = oomscope_benches::Random::default();
    let mut snapshot = Snapshot::default();
    let (file, _) = snapshot.strings.intern(b"/home/me/train.py");
    let frames: Vec<FrameId> = (0..FRAMES)
        .map(|line| {
            let (name, _) = snapshot.strings.intern(format!("function_{line}").as_bytes());
            snapshot.frames.intern(Frame { file, line: line as i64, name, fx: None }, None)
        })
        .collect();
    let mut stack: Vec<FrameId> = frames[..DEPTH].to_vec();
    let stacks: Vec<StackId> = (0..STACKS)
        .map(|_| {
            // Innermost first: most stacks share their outer half.
            let changed = 1 + random.below(DEPTH as u64 / 2) as usize;
            stack[..changed].fill_with(|| frames[random.below(FRAMES) as usize]);
            snapshot.stacks.intern(&stack)
        })
        .collect();
    snapshot.timelines.push(oomscope_benches::many_live_with(|i| stacks[i % stacks.len()]).into());
    Arc::new(snapshot)
}

fn measure(c: &mut Criterion, name: &str, snapshot: &Arc<Snapshot>) {
    let Some(recording) = Recording::main(snapshot) else { return };
    let mut group = c.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    group.bench_function("names", |b| b.iter(|| black_box(FrameNames::new(snapshot))));
    let names = FrameNames::new(snapshot);
    for (option, direction) in [("callers", Direction::CallersFirst), ("callees", Direction::CalleesFirst)] {
        let options = TreeOptions { direction, folds_internal: false };
        let built = CallTree::build(snapshot, &names, options);
        writeln!(std::io::stderr(), "{name}, {option} first: {} nodes", built.len()).ok();
        group.bench_function(format!("build/{option}"), |b| {
            b.iter(|| black_box(CallTree::build(snapshot, &names, options)));
        });
    }
    let tree = CallTree::build(snapshot, &names, TreeOptions::default());
    let sites = SiteTable::new(snapshot, &names);
    let (clock, last) = (Clock::of(&recording), recording.moments() as u32 - 1);
    let weigh = |measure| {
        let totals = stack_totals(&recording, clock, measure, |_| true);
        let weights = tree.inclusive(totals.weights());
        (sites.rows(&totals, |_| true), weights)
    };
    let peak = recording.active.peak().0;
    group.bench_function("step/live", |b| b.iter(|| black_box(weigh(Measure::Live { at: peak }))));
    let all = (Moment::START, Moment(last));
    group.bench_function("step/allocated", |b| {
        b.iter(|| black_box(weigh(Measure::Allocated { after: all.0, until: all.1 })));
    });
    group.bench_function("step/byte_time", |b| {
        b.iter(|| black_box(weigh(Measure::ByteTime { from: all.0, to: all.1 })));
    });
    let (_, weights) = weigh(Measure::Live { at: peak });
    let view =
        FlameView { zoom: NodeIx::ROOT, width_px: 1200.0, max_rows: 1000, order: FlameOrder::ByWeight };
    group.bench_function("layout", |b| b.iter(|| black_box(flame_layout(&tree, &weights, &view))));
    group.finish();
}

fn stacks(c: &mut Criterion) {
    measure(c, "many_stacks", &many_stacks());
}

fn file(c: &mut Criterion) {
    if let Some(path) = oomscope_benches::large_file() {
        measure(c, "file", &oomscope_benches::read(&path));
    }
}

criterion_group!(benches, stacks, file);
criterion_main!(benches);
