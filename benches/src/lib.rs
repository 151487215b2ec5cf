//! What benches share: files, and a history that is harder than recorded ones.

use oomscope_model::{
    Action, Anchor, DeviceId, Event, EventTable, Recording, SegmentTable, Snapshot, StackId, Timeline,
    TimelineInput,
};
use oomscope_snapshot::load::{Input, Progress, load};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The variable that names a large file.
const LARGE_FILE: &str = "OOMSCOPE_BENCH_FILE";

/// A bundled sample.
pub fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample_snapshots").join(name)
}

/// Load a file, which must be whole.
pub fn read(path: &Path) -> Arc<Snapshot> {
    let loaded = load(&Input::File(path.to_owned()), &Progress::default());
    Arc::new(loaded.unwrap_or_else(|error| panic!("{error}")))
}

/// The large file that the user names; says so where there is none.
pub fn large_file() -> Option<PathBuf> {
    let path = std::env::var_os(LARGE_FILE).map(PathBuf::from);
    if path.is_none() {
        let why = format!("SKIPPED: the large file, because {LARGE_FILE} names none\n");
        std::io::stderr().write_all(why.as_bytes()).ok();
    }
    path
}

/// Numbers in no order, the same in every run.
pub struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        Self(0x2545_f491_4f6c_dd1d)
    }
}

impl Random {
    /// The next number, less than `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// A million events with 50,000 allocations live at once, of all sizes and lifetimes.
pub fn many_live() -> Recording {
    Recording::only(Snapshot::default(), many_live_with(|_| StackId::EMPTY))
}

/// The same with a stack for every event.
pub fn many_live_with(stack: impl Fn(usize) -> StackId) -> Timeline {
    const LIVE: usize = 50_000;
    const EVENTS: usize = 1_000_000;
    let mut random = Random::default();
    let mut next = |below: u64| random.below(below);
    let mut events = EventTable::default();
    let mut live: Vec<(u64, i64)> = Vec::new();
    while events.len() < EVENTS {
        let is_full = LIVE <= live.len();
        let (action, (addr, size)) = if is_full {
            (Action::FreeCompleted, live.swap_remove(next(live.len() as u64) as usize))
        } else {
            let size = (512 << next(14)) + 512 * next(64) as i64;
            let addr = (1 << 40) + (events.len() as u64 % 200_000) * (32 << 20);
            live.push((addr, size));
            (Action::Alloc, (addr, size))
        };
        let time_us = Some(1_700_000_000_000_000 + events.len() as i64 * 7);
        let stack = stack(events.len());
        events.push(&Event { stack, ..event(action, addr, size, time_us) });
    }
    let segments = SegmentTable::default();
    Timeline::build(TimelineInput { device: DeviceId(0), events, segments, anchor: Anchor::TraceOnly })
}

fn event(action: Action, addr: u64, size: i64, time_us: Option<i64>) -> Event {
    Event { time_us, stream: Some(0), ..Event::new(action, addr, size) }
}
