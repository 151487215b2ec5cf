//! Write a large snapshot by repeating a recorded one.
//!
//! ```text
//! cargo run --release --example scale -- SNAPSHOT COPIES OUT.pickle [--own-lists]
//! ```
//!
//! Each copy has the events of the first device and all annotations again, with later times. Between copies, events are
//! added that lead from the end state back to the start state, so the result is a trace without
//! contradictions. The pickle is laid out as torch and Python write it: frames and keys once, then
//! by memo; a new list of frames for each alloc and for each pair of frees; lists in batches of 1000.
//! With `--own-lists` every event has a list of its own, as in snapshots that went through a script.

use oomscope_model::{
    Action, Event, EventIx, Moment, PoolKey, Recording, ReservedRange, Setting, SettingValue, Snapshot,
    StackId, Timeline,
};
use oomscope_snapshot::load::{Input, Progress, load};
use serde::Serialize;
use serde_pickle::{SerOptions, Serializer};
use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// Microseconds between two copies.
const GAP_US: i64 = 1000;

/// Items per batch, as in Python's pickler.
const BATCH: usize = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (source, copies, out, has_own_lists) = match args.as_slice() {
        [source, copies, out] => (source, copies, out, false),
        [source, copies, out, flag] if flag == "--own-lists" => (source, copies, out, true),
        _ => return Err("usage: scale SNAPSHOT COPIES OUT.pickle [--own-lists]".into()),
    };
    let snapshot = load(&Input::from_arg(Path::new(source)), &Progress::default())?;
    let recording = Recording::main(&Arc::new(snapshot)).ok_or("the snapshot has no device")?;
    let mut pickle = Pickle::new(BufWriter::with_capacity(1 << 20, File::create(out)?));
    let events = write_snapshot(&mut pickle, &recording, copies.parse()?, has_own_lists)?;
    pickle.finish()?;
    writeln!(std::io::stdout(), "{out}: {events} events")?;
    Ok(())
}

fn write_snapshot<W: Write>(
    pickle: &mut Pickle<W>,
    recording: &Recording,
    copies: i64,
    has_own_lists: bool,
) -> Result<u64, Box<dyn Error>> {
    let snapshot = recording.snapshot();
    pickle.begin_dict();
    pickle.key("segments")?;
    write_segments(pickle, recording)?;
    pickle.key("device_traces")?;
    pickle.begin_list();
    pickle.begin_list();
    let bridge = bridge(recording);
    let (first_us, last_us) = recording.events.time_range_us().unwrap_or((0, 0));
    let mut trace = Trace { pickle, snapshot, written: 0, freed: None, has_own_lists };
    for copy in 0..copies {
        let shift_us = copy * (last_us - first_us + GAP_US);
        for ix in recording.events.indices() {
            trace.event(&recording.events.get(ix), shift_us)?;
        }
        if copy + 1 < copies {
            for event in &bridge {
                trace.event(event, shift_us)?;
            }
        }
    }
    let written = trace.written;
    pickle.end_list();
    pickle.end_list();
    pickle.pair("allocator_settings", &settings(&snapshot.settings))?;
    pickle.key("external_annotations")?;
    pickle.begin_list();
    for copy in 0..copies {
        write_annotations(pickle, snapshot, copy * (last_us - first_us + GAP_US))?;
    }
    pickle.end_list();
    pickle.end_dict();
    Ok(written)
}

/// What the program and torch announced, once more.
fn write_annotations<W: Write>(
    pickle: &mut Pickle<W>,
    snapshot: &Snapshot,
    shift_us: i64,
) -> Result<(), Box<dyn Error>> {
    for annotation in &snapshot.annotations {
        pickle.begin_dict();
        pickle.key("stage")?;
        pickle.str(if annotation.is_start { "START" } else { "END" })?;
        pickle.key("name")?;
        pickle.str(&snapshot.strings.whole(annotation.name))?;
        pickle.int("device", annotation.device.map_or(0, |device| device.0))?;
        pickle.int("time_us", annotation.time_us.unwrap_or(0).saturating_add(shift_us))?;
        pickle.end_dict();
        pickle.item()?;
    }
    Ok(())
}

/// The settings as a value that serde-pickle writes.
fn settings(settings: &[Setting]) -> serde_json::Value {
    settings.iter().map(|s| (s.name.clone(), setting(&s.value))).collect()
}

fn setting(value: &SettingValue) -> serde_json::Value {
    match value {
        SettingValue::Bool(b) => (*b).into(),
        SettingValue::Int(n) => (*n).into(),
        SettingValue::Float(f) => (*f).into(),
        SettingValue::Text(text) => text.as_str().into(),
        SettingValue::Table(entries) => settings(entries),
        SettingValue::List(values) => values.iter().map(setting).collect(),
        SettingValue::None => serde_json::Value::Null,
    }
}

/// Events that lead from the state after the trace to the state before it.
fn bridge(timeline: &Timeline) -> Vec<Event> {
    let (start, end) = (Moment::START, Moment(timeline.events.len() as u32));
    let template = timeline.events.indices().next_back().map(|ix: EventIx| timeline.events.get(ix));
    let Some(template) = template else { return Vec::new() };
    let event = |action, addr, size, stream, pool: Option<PoolKey>| Event {
        action,
        addr: Some(addr),
        size,
        stream,
        pool,
        stack: StackId::EMPTY,
        device_free: None,
        ..template
    };
    let mut out = Vec::new();
    let live =
        |moment| timeline.lifetimes.live_at(moment).map(|id| timeline.lifetimes.get(id, &timeline.events));
    for a in live(end).filter(|a| a.start != start) {
        if !a.is_awaiting_at(end) {
            out.push(event(Action::FreeRequested, a.addr, a.size, a.stream, a.pool));
        }
        out.push(event(Action::FreeCompleted, a.addr, a.size, a.stream, a.pool));
    }
    let range = |r: &ReservedRange, plain, expandable| {
        event(if r.is_expandable { expandable } else { plain }, r.addr, r.size, r.stream, r.pool)
    };
    let ranges = &timeline.ranges;
    out.extend(
        ranges
            .live_at(end)
            .filter(|r| r.start != start)
            .map(|r| range(r, Action::SegmentFree, Action::SegmentUnmap)),
    );
    out.extend(
        ranges
            .live_at(start)
            .filter(|r| r.end.is_some())
            .map(|r| range(r, Action::SegmentAlloc, Action::SegmentMap)),
    );
    out.extend(
        live(start)
            .filter(|a| a.end.is_some())
            .map(|a| event(Action::Alloc, a.addr, a.size, a.stream, a.pool)),
    );
    out
}

fn write_segments<W: Write>(pickle: &mut Pickle<W>, recording: &Recording) -> Result<(), Box<dyn Error>> {
    let snapshot = recording.snapshot();
    pickle.begin_list();
    for segment in &recording.segments.segments {
        pickle.begin_dict();
        pickle.int("device", 0)?;
        pickle.int("address", segment.addr.cast_signed())?;
        pickle.int("total_size", segment.size.0)?;
        pickle.int("stream", segment.stream.unwrap_or(0))?;
        pickle.key("segment_type")?;
        pickle.str(&segment.kind.map(|id| snapshot.strings.whole(id)).unwrap_or_default())?;
        pickle.key("segment_pool_id")?;
        pickle.pool(segment.pool.unwrap_or(PoolKey::DEFAULT));
        pickle.pair("is_expandable", &segment.is_expandable)?;
        pickle.key("blocks")?;
        pickle.begin_list();
        for block in recording.segments.blocks_of(segment) {
            pickle.begin_dict();
            pickle.int("address", block.addr.cast_signed())?;
            pickle.int("size", block.size.0)?;
            pickle.int("requested_size", block.requested.0)?;
            pickle.key("state")?;
            pickle.str(match block.state {
                oomscope_model::BlockState::Allocated => "active_allocated",
                oomscope_model::BlockState::AwaitingFree => "active_pending_free",
                oomscope_model::BlockState::Inactive => "inactive",
            })?;
            pickle.key("frames")?;
            pickle.stack(snapshot, block.stack)?;
            pickle.end_dict();
            pickle.item()?;
        }
        pickle.end_list();
        pickle.end_dict();
        pickle.item()?;
    }
    pickle.end_list();
    Ok(())
}

/// Writes events into the open list.
struct Trace<'a, W: Write> {
    pickle: &'a mut Pickle<W>,
    snapshot: &'a Snapshot,
    written: u64,
    /// The list of frames of the latest requested free: the completed free shares it.
    freed: Option<(StackId, u32)>,
    has_own_lists: bool,
}

impl<W: Write> Trace<'_, W> {
    fn event(&mut self, event: &Event, shift_us: i64) -> Result<(), Box<dyn Error>> {
        let pickle = &mut *self.pickle;
        pickle.begin_dict();
        pickle.key("action")?;
        pickle.str(&self.snapshot.actions.name(event.action, &self.snapshot.strings))?;
        match (event.action, event.device_free) {
            (Action::Oom, Some(free)) => pickle.int("device_free", free.0)?,
            _ => pickle.int("addr", event.addr.unwrap_or(0).cast_signed())?,
        }
        pickle.int("size", event.size.0)?;
        pickle.int("stream", event.stream.unwrap_or(0))?;
        if let Some(time_us) = event.time_us {
            pickle.int("time_us", time_us + shift_us)?;
        }
        if let Some(context) = event.compile_context {
            pickle.key("compile_context")?;
            pickle.fresh_str(&self.snapshot.strings.whole(context))?;
        }
        if let Some(metadata) = event.user_metadata {
            pickle.key("user_metadata")?;
            pickle.fresh_str(&self.snapshot.strings.whole(metadata))?;
        }
        if let Some(pool) = event.pool {
            pickle.key("pool_id")?;
            pickle.pool(pool);
        }
        pickle.key("frames")?;
        match (event.action, self.freed) {
            (Action::FreeCompleted, Some((stack, list))) if stack == event.stack && !self.has_own_lists => {
                pickle.get(list);
            }
            _ => {
                let list = pickle.stack(self.snapshot, event.stack)?;
                self.freed = (event.action == Action::FreeRequested).then_some((event.stack, list));
            }
        }
        pickle.end_dict();
        pickle.item()?;
        self.written += 1;
        Ok(())
    }
}

/// A pickle in the making: scalars through serde-pickle, and the memo that it does not have.
struct Pickle<W: Write> {
    out: W,
    raw: Vec<u8>,
    memo: u32,
    strings: HashMap<String, u32>,
    frames: HashMap<oomscope_model::FrameId, u32>,
    /// Items in the current batch of each open list.
    batches: Vec<usize>,
}

impl<W: Write> Pickle<W> {
    fn new(out: W) -> Self {
        let raw = vec![0x80, 4];
        Self { out, raw, memo: 0, strings: HashMap::new(), frames: HashMap::new(), batches: Vec::new() }
    }

    fn op(&mut self, bytes: &[u8]) {
        self.raw.extend_from_slice(bytes);
    }

    fn scalar(&mut self, value: &impl Serialize) -> Result<(), Box<dyn Error>> {
        let mut text = Serializer::new(&mut self.raw, SerOptions::new());
        value.serialize(&mut text)?;
        Ok(())
    }

    /// An int as Python's pickler writes it: in the shortest form. (serde-pickle knows two forms.)
    fn int(&mut self, name: &str, value: i64) -> Result<(), Box<dyn Error>> {
        self.key(name)?;
        if let Ok(small) = u8::try_from(value) {
            self.op(&[b'K', small]);
        } else if let Ok(small) = u16::try_from(value) {
            self.op(b"M");
            self.op(&small.to_le_bytes());
        } else if let Ok(medium) = i32::try_from(value) {
            self.op(b"J");
            self.op(&medium.to_le_bytes());
        } else {
            let bits = 65 - value.unsigned_abs().leading_zeros();
            let len = bits.div_ceil(8).min(8) as u8;
            self.op(&[0x8a, len]);
            self.op(&value.to_le_bytes()[..usize::from(len)]);
        }
        Ok(())
    }

    fn memoize(&mut self) -> u32 {
        self.raw.push(0x94);
        self.memo += 1;
        self.memo - 1
    }

    fn get(&mut self, index: u32) {
        if let Ok(short) = u8::try_from(index) {
            self.op(&[b'h', short]);
        } else {
            self.op(b"j");
            self.op(&index.to_le_bytes());
        }
    }

    fn fresh_str(&mut self, text: &str) -> Result<u32, Box<dyn Error>> {
        if let Ok(len) = u8::try_from(text.len()) {
            self.op(&[0x8c, len]);
        } else {
            self.op(b"X");
            self.op(&u32::try_from(text.len())?.to_le_bytes());
        }
        self.op(text.as_bytes());
        Ok(self.memoize())
    }

    fn str(&mut self, text: &str) -> Result<(), Box<dyn Error>> {
        if let Some(&index) = self.strings.get(text) {
            self.get(index);
            return Ok(());
        }
        let index = self.fresh_str(text)?;
        self.strings.insert(text.to_owned(), index);
        Ok(())
    }

    fn key(&mut self, name: &str) -> Result<(), Box<dyn Error>> {
        self.str(name)
    }

    fn pair(&mut self, name: &str, value: &impl Serialize) -> Result<(), Box<dyn Error>> {
        self.key(name)?;
        self.scalar(value)
    }

    fn pool(&mut self, pool: PoolKey) {
        let small = |part: i64| u8::try_from(part).unwrap_or(0);
        self.op(&[b'K', small(pool.0), b'K', small(pool.1), 0x86]);
        self.memoize();
    }

    fn begin_dict(&mut self) {
        self.op(b"}");
        self.memoize();
        self.op(b"(");
    }

    fn end_dict(&mut self) {
        self.op(b"u");
    }

    fn begin_list(&mut self) -> u32 {
        self.op(b"]");
        let index = self.memoize();
        self.op(b"(");
        self.batches.push(0);
        index
    }

    /// After each item of a list.
    fn item(&mut self) -> Result<(), Box<dyn Error>> {
        if let Some(n) = self.batches.last_mut() {
            *n += 1;
            if *n == BATCH {
                *n = 0;
                self.op(b"e(");
            }
        }
        self.flush()
    }

    fn end_list(&mut self) {
        self.batches.pop();
        self.op(b"e");
    }

    fn stack(&mut self, snapshot: &Snapshot, stack: StackId) -> Result<u32, Box<dyn Error>> {
        let list = self.begin_list();
        for &id in snapshot.stacks.frames(stack) {
            if let Some(&index) = self.frames.get(&id) {
                self.get(index);
                continue;
            }
            let frame = snapshot.frames.get(id);
            self.frames.insert(id, self.memo);
            self.begin_dict();
            self.key("name")?;
            self.str(&snapshot.strings.whole(frame.name))?;
            self.key("filename")?;
            self.str(&snapshot.strings.whole(frame.file))?;
            self.int("line", frame.line)?;
            self.end_dict();
        }
        self.end_list();
        Ok(list)
    }

    fn flush(&mut self) -> Result<(), Box<dyn Error>> {
        if 1 << 16 <= self.raw.len() {
            self.write_out()?;
        }
        Ok(())
    }

    fn write_out(&mut self) -> Result<(), Box<dyn Error>> {
        let raw = std::mem::take(&mut self.raw);
        self.out.write_all(&raw)?;
        Ok(())
    }

    fn finish(mut self) -> Result<(), Box<dyn Error>> {
        self.op(b".");
        self.write_out()?;
        self.out.flush()?;
        Ok(())
    }
}
