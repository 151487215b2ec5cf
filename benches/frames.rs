//! How long the window's thread takes per frame at 1920 × 1080 while one pans, zooms and scrubs, and
//! how long the first picture, the verdict and the exact picture of a new view take.
//!
//! ```text
//! OOMSCOPE_BENCH_FILE=big.pickle cargo bench -p oomscope-benches --bench frames
//! ```
//!
//! Without a large file, a bundled sample stands in. Frames are laid out and tessellated; handing
//! them to the graphics card is not part of the figures.

use eframe::egui::{
    Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Pos2, TouchPhase, Vec2, pos2,
};
use oomscope_app::headless::Headless;
use oomscope_benches::{large_file, sample};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

const SIZE: [f32; 2] = [1920.0, 1080.0];

/// Frames per figure.
const FRAMES: usize = 300;

/// A point within the timeline's picture.
const PICTURE: Pos2 = pos2(600.0, 400.0);

/// Panes whose cost of scrubbing is measured.
const PANES: [&str; 8] =
    ["Holes", "Map", "Segment timeline", "Stacks", "Allocations", "Events", "Iterations", "Modules"];

/// Filters that stay while the cursor moves, and that follow it.
const FILTERS: [&str; 2] = ["size>1MB", "live size>1MB"];

fn main() -> std::io::Result<()> {
    // `cargo test --benches` runs this, too.
    if std::env::args().any(|arg| arg == "--test") {
        return Ok(());
    }
    let path = large_file().unwrap_or_else(|| sample("gpt_oom_forward.pickle"));
    let mut window = opened(&path)?;
    let before = anonymous_bytes();
    report("idle", &mut window, |_| Vec::new())?;
    for pane in PANES {
        window.show_pane(pane);
        settle(&mut window);
        report(&format!("scrub by events with {pane}"), &mut window, |_| arrow(Key::ArrowRight))?;
        seeks(&format!("scrub anywhere with {pane}"), &mut window)?;
    }
    for query in FILTERS {
        window.filter(query);
        settle(&mut window);
        report(&format!("scrub by events with the filter {query}"), &mut window, |_| arrow(Key::ArrowRight))?;
        seeks(&format!("scrub anywhere with the filter {query}"), &mut window)?;
    }
    window.filter("");
    window.show_pane("Map");
    report("zoom", &mut window, |i| wheel(if i % 60 < 30 { 20.0 } else { -20.0 }))?;
    zoom_in(&mut window);
    report("pan", &mut window, pan)?;
    exact(&mut window)?;
    let grown = anonymous_bytes().zip(before).map(|(now, before)| (now - before) / 1_000_000);
    match grown {
        Some(grown) => {
            say(&format!("anonymous memory: {grown} MB more than when the first picture was there"))
        }
        None => say("SKIPPED: memory, because there is no /proc/self/status"),
    }
}

/// Memory of this process that is not a file's, on Linux.
fn anonymous_bytes() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<i64>().ok()? * 1024)
}

/// From the start of loading until the timeline shows its picture, and the header the verdict.
fn opened(path: &Path) -> std::io::Result<Headless> {
    let mut window = Headless::new(SIZE);
    let start = Instant::now();
    window.open(path);
    let [mut loaded, mut exact, mut verdict] = [None; 3];
    while exact.is_none() || verdict.is_none() {
        window.frame(Vec::new());
        let now = start.elapsed();
        loaded = loaded.or(window.is_open().then_some(now));
        exact = exact.or(window.is_exact().then_some(now));
        verdict = verdict.or(window.has_verdict().then_some(now));
        std::thread::sleep(Duration::from_millis(1));
    }
    let loaded = loaded.unwrap_or_default();
    let after = |at: Option<Duration>| ms(at.unwrap_or_default().saturating_sub(loaded));
    say(&format!(
        "after the load of {:.0} ms: the picture {:.0} ms, the verdict {:.0} ms",
        ms(loaded),
        after(exact),
        after(verdict)
    ))?;
    Ok(window)
}

/// Let everything that was started in the background finish.
fn settle(window: &mut Headless) {
    for _ in 0..30 {
        window.frame(Vec::new());
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn report(name: &str, window: &mut Headless, input: impl Fn(usize) -> Vec<Event>) -> std::io::Result<()> {
    let times = (0..FRAMES).map(|i| {
        // The other threads get the time that they have between two frames.
        std::thread::sleep(Duration::from_millis(4));
        window.frame(input(i))
    });
    percentiles(name, times.collect())
}

/// The cursor jumps all over the file.
fn seeks(name: &str, window: &mut Headless) -> std::io::Result<()> {
    let times = (0..FRAMES).map(|i| {
        std::thread::sleep(Duration::from_millis(4));
        window.seek((i as f64 * 0.618_033_988_75).fract());
        window.frame(Vec::new())
    });
    percentiles(name, times.collect())
}

fn percentiles(name: &str, mut times: Vec<Duration>) -> std::io::Result<()> {
    times.sort_unstable();
    let at = |share: f64| ms(times[((times.len() - 1) as f64 * share) as usize]);
    say(&format!("{name}: p50 {:.1} ms, p99 {:.1} ms, most {:.1} ms", at(0.5), at(0.99), at(1.0)))
}

/// How long it takes from a new view to its exact picture.
fn exact(window: &mut Headless) -> std::io::Result<()> {
    let times = (0..20).map(|i| {
        settle(window);
        let start = Instant::now();
        window.frame(wheel(if i % 2 == 0 { 60.0 } else { -60.0 }));
        // The wheel's movement is smoothed over several frames; the last one counts.
        let mut last = start;
        loop {
            let before = Instant::now();
            window.frame(Vec::new());
            if window.is_exact() {
                return last.elapsed();
            }
            last = last.max(before.min(start + Duration::from_millis(1)));
            if Duration::from_secs(5) < start.elapsed() {
                return start.elapsed();
            }
        }
    });
    percentiles("exact picture of a new view", times.collect())
}

fn arrow(key: Key) -> Vec<Event> {
    let event =
        |pressed| Event::Key { key, physical_key: None, pressed, repeat: false, modifiers: Modifiers::NONE };
    vec![event(true), event(false)]
}

fn wheel(points: f32) -> Vec<Event> {
    let event = Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        source: MouseWheelSource::Wheel,
        delta: Vec2::new(0.0, points),
        phase: TouchPhase::Move,
        modifiers: Modifiers::NONE,
    };
    vec![Event::PointerMoved(PICTURE), event]
}

fn zoom_in(window: &mut Headless) {
    for _ in 0..40 {
        window.frame(wheel(40.0));
    }
    settle(window);
}

fn pan(i: usize) -> Vec<Event> {
    let offset = ((i % 100) as f32 - 50.0).abs() * 6.0;
    let at = PICTURE + Vec2::new(offset, 0.0);
    let mut events = vec![Event::PointerMoved(at)];
    if i == 0 {
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        events.push(Event::PointerButton { pos: at, button, pressed: true, modifiers });
    }
    events
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn say(line: &str) -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{line}")
}
