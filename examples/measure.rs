//! Measure how fast a snapshot is loaded, and how much memory that takes.
//!
//! ```text
//! cargo run --release --example measure -- SNAPSHOT [TIMES]
//! ```
//!
//! Time is from opening the file to the finished model. Memory is anonymous memory (Linux only):
//! what the program allocated, without the page cache, and as it is during the first load: later ones
//! start with what the allocator kept. The first may include reading from the disk, so the best time counts.

use oomscope_snapshot::load::{Input, Progress, load};
use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often memory is looked at.
const POLL: Duration = Duration::from_millis(2);

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (path, times) = match args.as_slice() {
        [path] => (path, 5),
        [path, times] => (path, times.parse()?),
        _ => return Err("usage: measure SNAPSHOT [TIMES]".into()),
    };
    let size = std::fs::metadata(path)?.len();
    let input = Input::from_arg(Path::new(path));
    let mut out = std::io::stdout().lock();
    let (mut best, mut first_peak, mut events) = (Duration::MAX, None, 0);
    for i in 1..=times {
        let start = Instant::now();
        let (snapshot, peak) = with_peak(|| {
            let snapshot = load(&input, &Progress::default());
            (snapshot, start.elapsed())
        });
        let (snapshot, took) = snapshot;
        events = snapshot?.timelines.iter().map(|timeline| timeline.events.len()).sum();
        writeln!(out, "load {i}: {:.1} ms, {:.1} MB at most", took.as_secs_f64() * 1e3, peak as f64 / 1e6)?;
        best = best.min(took);
        first_peak.get_or_insert(peak);
    }
    let seconds = best.as_secs_f64();
    let (gigabytes, million_events) = (size as f64 / 1e9, events as f64 / 1e6);
    writeln!(out, "file:   {:.1} MB, {events} events", gigabytes * 1e3)?;
    writeln!(
        out,
        "best:   {:.1} ms, {:.3} GB/s, {:.2} million events/s",
        seconds * 1e3,
        gigabytes / seconds,
        million_events / seconds
    )?;
    let peak = first_peak.unwrap_or(0) as f64;
    writeln!(out, "memory: {:.1} MB anonymous, {:.3} of the file", peak / 1e6, peak / size as f64)?;
    Ok(())
}

/// Run `work` and note the most anonymous memory that there was meanwhile.
fn with_peak<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let (is_done, peak) = (AtomicBool::new(false), AtomicU64::new(0));
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                peak.fetch_max(anonymous_bytes().unwrap_or(0), Ordering::Relaxed);
                std::thread::sleep(POLL);
            }
        });
        let result = work();
        // Before the result is dropped: the finished model counts too.
        peak.fetch_max(anonymous_bytes().unwrap_or(0), Ordering::Relaxed);
        is_done.store(true, Ordering::Relaxed);
        result
    });
    (result, peak.into_inner())
}

/// `RssAnon` of this process; `None` on other systems than Linux.
fn anonymous_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
