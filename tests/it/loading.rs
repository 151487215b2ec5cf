//! Loading as the program does it: in pieces, in the background, with progress, and until it is told
//! to stop.

use crate::pickles::{event, frame, int, list, pickle, snapshot, text, with};
use crate::support::{root, sample};
use oomscope_analysis::{DeviceStats, device_stats};
use oomscope_model::{Bytes, EventIx, Moment, Recording, Snapshot};
use oomscope_snapshot::load::{Input, LoadError, LoadJob, Progress, load, load_from};
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

fn stats(snapshot: &Arc<Snapshot>) -> Vec<DeviceStats> {
    Recording::all(snapshot).map(|recording| device_stats(&recording)).collect()
}

fn files() -> Vec<PathBuf> {
    let mut files = vec![sample("two_devices_oom.pickle"), sample("compact.pickle.gz")];
    files
        .extend([0, 2, 4].map(|protocol| root().join(format!("tests/data/small.protocol{protocol}.pickle"))));
    files.push(root().join("tests/data/trace_plot.html"));
    files
}

/// Gives its bytes a few at a time, then does something else.
struct Pieces<'a, F> {
    bytes: &'a [u8],
    size: usize,
    then: F,
}

impl<F: FnMut() -> io::Result<usize>> Read for Pieces<'_, F> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.size.min(buf.len()).min(self.bytes.len());
        if n == 0 {
            return (self.then)();
        }
        let (now, later) = self.bytes.split_at(n);
        buf[..n].copy_from_slice(now);
        self.bytes = later;
        Ok(n)
    }
}

#[test]
fn a_slow_pipe_gives_the_same_as_a_file() {
    for path in files() {
        let bytes = std::fs::read(&path).expect("the file can be read");
        let whole = Arc::new(load(&Input::File(path.clone()), &Progress::default()).expect("the file loads"));
        for size in [1, 7, 4096] {
            let pieces = Pieces { bytes: &bytes, size, then: || Ok(0) };
            let progress = Progress::default();
            let read = Arc::new(load_from(pieces, "a pipe", &progress).expect("the pieces load"));
            assert_eq!((stats(&read), &read.damage), (stats(&whole), &None), "{} by {size}", path.display());
            assert!(progress.read_bytes() <= bytes.len() as u64);
        }
    }
}

/// Texts of all lengths, so that every kind of opcode lies across the border of two pieces somewhere.
fn long_trace(events: usize) -> Vec<u8> {
    let event = |i: usize| {
        let name = "x".repeat(i * 7 % 310);
        let frames = list([frame("/train.py", i as i64 % 50, "step"), frame(&name, i as i64, "f")]);
        let base = event("alloc", 0x7f00_0000_0000 + (i as u64 % 977) * 512, i as i64 * 1000);
        with(
            &base,
            [
                ("frames", frames),
                ("compile_context", text(&name)),
                ("time_us", int(1_700_000_000_000_000 + i as i64)),
            ],
        )
    };
    pickle(&snapshot([], [list((0..events).map(event))]))
}

#[test]
fn a_file_of_many_pieces_is_read_event_by_event() {
    const EVENTS: usize = 20_000;
    let bytes = long_trace(EVENTS);
    assert!(6 << 20 < bytes.len(), "{} bytes", bytes.len());
    let progress = Progress::default();
    let read = load_from(&bytes[..], "test", &progress).expect("the trace loads");
    assert_eq!((progress.read_bytes(), progress.events()), (bytes.len() as u64, EVENTS as u64));
    assert!(progress.is_building());
    let timeline = &read.timelines[0];
    assert_eq!(timeline.events.len(), EVENTS);
    for i in 0..EVENTS {
        let event = timeline.events.get(EventIx(i as u32));
        let length = i * 7 % 310;
        assert_eq!((event.size.0, event.time_us), (i as i64 * 1000, Some(1_700_000_000_000_000 + i as i64)));
        assert_eq!(event.addr, Some(0x7f00_0000_0000 + (i as u64 % 977) * 512));
        assert_eq!(
            event.compile_context.map(|id| read.strings.whole_bytes(id).len()),
            Some(length),
            "event {i}"
        );
        let lines: Vec<i64> =
            read.stacks.frames(event.stack).iter().map(|&id| read.frames.get(id).line).collect();
        assert_eq!(lines, [i as i64 % 50, i as i64]);
    }
}

#[test]
fn a_load_stops_when_it_is_told_to() {
    let bytes = long_trace(3000);
    let progress = Progress::default();
    progress.cancel();
    let outcome = load_from(&bytes[..], "test", &progress);
    assert!(matches!(outcome, Err(LoadError::Cancelled { .. })), "{outcome:?}");
    // In the middle, by someone who watches.
    let progress = Progress::default();
    let half = &bytes[..bytes.len() / 2];
    let then = || {
        progress.cancel();
        Ok(0)
    };
    let outcome = load_from(Pieces { bytes: half, size: 1 << 16, then }, "test", &progress);
    assert!(matches!(outcome, Err(LoadError::Cancelled { .. })), "{outcome:?}");
}

#[test]
fn an_input_that_fails_in_the_middle_gives_what_came_before() {
    let path = sample("gpt_oom_forward.pickle");
    let bytes = std::fs::read(&path).expect("the sample can be read");
    let fail = || Err(io::Error::other("the cable came loose"));
    let half = &bytes[..bytes.len() / 2];
    let read = load_from(Pieces { bytes: half, size: 1000, then: fail }, "test", &Progress::default())
        .expect("part of the trace is there");
    let damage = read.damage.as_ref().expect("it is marked as partial");
    assert!(damage.offset <= half.len() as u64);
    assert!(damage.reason.contains("the cable came loose"), "{damage:?}");
    assert!(100 < read.timelines[0].events.len());
    let outcome = load_from(Pieces { bytes: &[], size: 1, then: fail }, "test", &Progress::default());
    assert!(matches!(outcome, Err(LoadError::Read { .. })), "{outcome:?}");
}

#[test]
fn a_background_load_wakes_its_owner_once_with_the_outcome() {
    let (wake, woken) = sync_channel(4);
    let input = Input::File(sample("pools.pickle"));
    let job =
        LoadJob::start(input.clone(), Progress::default(), move || wake.send(()).expect("someone listens"))
            .expect("a thread");
    assert_eq!(woken.recv_timeout(PATIENCE), Ok(()));
    let snapshot = job.poll().expect("there is an outcome").expect("the sample loads");
    let expected = Arc::new(load(&input, &Progress::default()).expect("the sample loads"));
    assert_eq!(stats(&snapshot), stats(&expected));
    assert_eq!(job.progress().fraction(), Some(1.0));
    assert_eq!(job.input(), &input);
    assert!(woken.recv_timeout(PATIENCE).is_err(), "woken twice");
}

#[test]
fn what_is_seen_of_a_load_is_true_of_the_snapshot() {
    for path in files() {
        let progress = Progress::with_preview();
        let snapshot = Arc::new(load(&Input::File(path.clone()), &progress).expect("the sample loads"));
        let seen = progress.seen().expect("someone looks");
        for recording in Recording::all(&snapshot).filter(|one| !one.segments.segments.is_empty()) {
            let end = device_stats(&recording).r#final;
            let shown = &seen.segments[&recording.device];
            assert_eq!(shown.count, recording.segments.segments.len(), "{path:?}");
            assert_eq!((shown.reserved_bytes, shown.active_bytes), (end.reserved, end.active), "{path:?}");
        }
        // A trace ends above where it began by as much as its levels differ.
        let rises: Vec<Bytes> = seen.traces.values().map(|outline| outline.level()).collect();
        let expected = snapshot.timelines.iter().filter(|timeline| !timeline.events.is_empty());
        let expected: Vec<Bytes> = expected
            .map(|timeline| {
                timeline.allocated.at(Moment(timeline.events.len() as u32)) - timeline.allocated.at(Moment(0))
            })
            .collect();
        assert_eq!(rises, expected, "{path:?}");
    }
}

#[test]
fn a_background_load_reports_what_went_wrong() {
    let job =
        LoadJob::start(Input::File("no/such.pickle".into()), Progress::default(), || {}).expect("a thread");
    let outcome = job.wait(PATIENCE).expect("there is an outcome");
    assert!(matches!(outcome, Err(LoadError::Read { .. })), "{outcome:?}");
}

#[test]
fn a_background_load_that_nobody_wants_any_more_stops() {
    let (wake, woken) = sync_channel(1);
    let job = LoadJob::start(Input::File(sample("gpt_oom_forward.pickle")), Progress::default(), move || {
        wake.send(()).expect("someone listens");
    });
    let job = job.expect("a thread");
    let progress = job.progress().clone();
    drop(job);
    assert!(progress.is_cancelled());
    assert_eq!(woken.recv_timeout(PATIENCE), Ok(()));
}
