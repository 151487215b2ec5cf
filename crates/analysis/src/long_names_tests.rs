//! Names of megabytes that hundreds of frames share are read a few times, not once for each frame.

use super::{Attribution, UserRules, device_stats, module_table};
use oomscope_fixtures::first;
use oomscope_model::{Moment, Snapshot};
use oomscope_pickle as pickle;
use oomscope_pickle::{MemoId, Writer};
use oomscope_snapshot::Builder;
use std::io;
use std::time::{Duration, Instant};

const FRAMES: i64 = 400;

/// Read for every frame, a debug build takes minutes.
const MAX_TIME: Duration = Duration::from_secs(20);

type Out = Writer<Vec<u8>>;

fn entry(out: &mut Out, key: &str, value: i64) -> io::Result<()> {
    out.text(key.as_bytes())?;
    out.int(value)
}

fn frame(out: &mut Out, file: MemoId, name: MemoId, line: i64) -> io::Result<()> {
    out.empty_dict()?;
    out.mark()?;
    out.text(b"filename")?;
    out.get(file)?;
    out.text(b"name")?;
    out.get(name)?;
    entry(out, "line", line)?;
    out.set_items()
}

/// Allocations of equal size, each with a stack of its own: frames of one long file and one long name at different lines.
fn recording(file: &[u8], name: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = Writer::new(Vec::new())?;
    out.empty_dict()?;
    out.mark()?;
    let [file, name] = [file, name]
        .map(|text| out.text(text).and_then(|()| out.memoize()).and_then(|id| out.none().map(|()| id)));
    let (file, name) = (file?, name?);
    out.text(b"device_traces")?;
    out.empty_list()?;
    out.mark()?;
    out.empty_list()?;
    out.mark()?;
    for at in 0..FRAMES {
        out.empty_dict()?;
        out.mark()?;
        out.text(b"action")?;
        out.text(b"alloc")?;
        entry(&mut out, "addr", (1 << 40) + at * 512)?;
        entry(&mut out, "size", 512)?;
        entry(&mut out, "stream", 0)?;
        out.text(b"frames")?;
        out.empty_list()?;
        out.mark()?;
        frame(&mut out, file, name, 1)?;
        frame(&mut out, file, name, at)?;
        out.append()?;
        out.set_items()?;
    }
    out.append()?;
    out.append()?;
    segments(&mut out)?;
    out.set_items()?;
    out.finish()
}

/// All of them are live at the end.
fn segments(out: &mut Out) -> io::Result<()> {
    out.text(b"segments")?;
    out.empty_list()?;
    out.mark()?;
    out.empty_dict()?;
    out.mark()?;
    entry(out, "device", 0)?;
    entry(out, "address", 1 << 40)?;
    entry(out, "total_size", FRAMES * 512)?;
    out.text(b"blocks")?;
    out.empty_list()?;
    out.mark()?;
    for at in 0..FRAMES {
        out.empty_dict()?;
        out.mark()?;
        entry(out, "address", (1 << 40) + at * 512)?;
        entry(out, "size", 512)?;
        entry(out, "requested_size", 512)?;
        out.text(b"state")?;
        out.text(b"active_allocated")?;
        out.set_items()?;
    }
    out.append()?;
    out.set_items()?;
    out.append()
}

fn load(bytes: &[u8]) -> Snapshot {
    let mut builder = Builder::default();
    let decoded = pickle::decode(bytes, &mut builder, None).expect("a pickle");
    builder.finish(decoded).expect("a snapshot")
}

#[test]
fn long_names_are_not_read_for_every_frame() {
    let long = vec![b'x'; 4 << 20];
    for (file, name) in [(&b"/a/train.py"[..], &long[..]), (&long[..], &b"step"[..])] {
        let recording = first(load(&recording(file, name).expect("memory can be written")));
        assert_eq!(
            (recording.events.len(), recording.snapshot().frames.len()),
            (FRAMES as usize, FRAMES as usize)
        );
        let start = Instant::now();
        let attribution = Attribution::of(&recording, &UserRules::default());
        module_table(&recording, &attribution, Moment(FRAMES as u32));
        let figures = device_stats(&recording);
        assert_eq!(figures.peak.top_stacks.len(), 5);
        assert!(start.elapsed() < MAX_TIME, "{:?}", start.elapsed());
    }
}
