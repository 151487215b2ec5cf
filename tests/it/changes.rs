//! Changes to the meaning of a recording: what a broken recorder, a wrong tool or a hand could make of it.

use crate::pickles::{dict, int};
use crate::support::sample;
use serde_pickle::{DeOptions, HashableValue, Value};
use std::collections::BTreeMap;

/// The most frames of a stack that are kept, so that the files stay small.
const FRAMES: usize = 2;

/// A recording of one device, taken apart.
#[derive(Clone)]
pub(crate) struct Recorded {
    rest: BTreeMap<HashableValue, Value>,
    segments: Vec<Value>,
    /// A trace for each device.
    traces: Vec<Vec<Value>>,
}

/// A change with its name.
pub(crate) type Change = (&'static str, fn(&mut Recorded));

fn key(name: &str) -> HashableValue {
    HashableValue::String(name.to_owned())
}

fn entries(value: &mut Value) -> &mut BTreeMap<HashableValue, Value> {
    let Value::Dict(entries) = value else { panic!("a record is a dict") };
    entries
}

fn items(value: &mut Value) -> &mut Vec<Value> {
    let Value::List(items) = value else { panic!("a list") };
    items
}

fn number(record: &Value, name: &str) -> i64 {
    let Value::Dict(entries) = record else { panic!("a record is a dict") };
    match entries.get(&key(name)) {
        Some(Value::I64(number)) => *number,
        _ => 0,
    }
}

fn word(record: &Value, name: &str) -> String {
    let Value::Dict(entries) = record else { panic!("a record is a dict") };
    match entries.get(&key(name)) {
        Some(Value::String(text)) => text.clone(),
        _ => String::new(),
    }
}

fn set(record: &mut Value, name: &str, number: i64) {
    entries(record).insert(key(name), Value::I64(number));
}

fn change(record: &mut Value, name: &str, to: impl FnOnce(i64) -> i64) {
    let number = number(record, name);
    set(record, name, to(number));
}

fn keep_frames(record: &mut Value) {
    if let Some(Value::List(frames)) = entries(record).get_mut(&key("frames")) {
        frames.truncate(FRAMES);
    }
}

fn is_action(event: &Value, actions: &[&str]) -> bool {
    actions.contains(&word(event, "action").as_str())
}

const SEGMENT_EVENTS: [&str; 4] = ["segment_alloc", "segment_free", "segment_map", "segment_unmap"];

impl Recorded {
    /// The sample that the changes are made to: it begins with an empty allocator and ends with a failed request.
    pub(crate) fn sample() -> Self {
        let bytes = std::fs::read(sample("frag_oom.pickle")).expect("the sample can be read");
        let root = serde_pickle::value_from_slice(&bytes, DeOptions::new().replace_recursive_structures())
            .expect("the sample is a pickle");
        let Value::Dict(mut rest) = root else { panic!("a snapshot is a dict") };
        let Some(Value::List(segments)) = rest.remove(&key("segments")) else { panic!("a list") };
        let Some(Value::List(mut traces)) = rest.remove(&key("device_traces")) else { panic!("a list") };
        let traces = traces.iter_mut().map(|trace| std::mem::take(items(trace))).collect();
        let mut recorded = Self { rest, segments, traces };
        recorded.segments.iter_mut().for_each(keep_frames);
        recorded.each_block(keep_frames);
        recorded.each_event(keep_frames);
        recorded
    }

    /// The recording as a pickle.
    pub(crate) fn pickle(&self) -> Vec<u8> {
        let mut root = self.rest.clone();
        let traces = self.traces.iter().map(|trace| Value::List(trace.clone())).collect();
        root.insert(key("segments"), Value::List(self.segments.clone()));
        root.insert(key("device_traces"), Value::List(traces));
        crate::pickles::pickle(&Value::Dict(root))
    }

    /// Add what the recorder notes of PyTorch's own counters.
    pub(crate) fn note_peaks(&mut self, requested_bytes: i64, reserved_bytes: i64) {
        let peaks = [("peak_requested_bytes", requested_bytes), ("peak_reserved_bytes", reserved_bytes)];
        let device = dict(peaks.map(|(name, bytes)| (name, int(bytes))));
        self.rest.insert(key("oomscope"), dict([("devices", dict([("0", device)]))]));
    }

    fn trace(&mut self) -> &mut Vec<Value> {
        self.traces.first_mut().expect("the device has a trace")
    }

    fn each_block(&mut self, mut change: impl FnMut(&mut Value)) {
        for segment in &mut self.segments {
            let blocks = entries(segment).get_mut(&key("blocks")).expect("a segment has blocks");
            items(blocks).iter_mut().for_each(&mut change);
        }
    }

    fn each_event(&mut self, change: impl FnMut(&mut Value)) {
        self.trace().iter_mut().for_each(change);
    }

    fn without(&mut self, actions: &[&str]) {
        self.trace().retain(|event| !is_action(event, actions));
    }

    /// Set the state of the first block in another one.
    fn set_state(&mut self, from: &str, to: &str) {
        let mut left = 1;
        self.each_block(|block| {
            if 0 < left && word(block, "state") == from {
                left -= 1;
                entries(block).insert(key("state"), Value::String(to.to_owned()));
            }
        });
        assert_eq!(left, 0, "no block is {from}");
    }
}

/// The change of a name.
pub(crate) fn change_named(name: &str) -> fn(&mut Recorded) {
    CHANGES.iter().find(|change| change.0 == name).expect("a change of that name").1
}

pub(crate) const CHANGES: [Change; 38] = [
    ("nothing", |_| ()),
    ("no segments", |r| r.segments.clear()),
    ("halved totals", |r| r.segments.iter_mut().for_each(|s| change(s, "total_size", |n| n / 2))),
    ("halved allocated_size", |r| r.segments.iter_mut().for_each(|s| change(s, "allocated_size", |n| n / 2))),
    ("middle of the trace dropped", |r| {
        let n = r.trace().len();
        r.trace().drain(n / 3..2 * n / 3);
    }),
    ("sizes of blocks doubled", |r| {
        r.each_block(|b| ["size", "requested_size"].iter().for_each(|name| change(b, name, |n| 2 * n)));
    }),
    ("blocks and segments doubled", |r| {
        r.each_block(|b| ["size", "requested_size"].iter().for_each(|name| change(b, name, |n| 2 * n)));
        let sums = ["total_size", "allocated_size", "active_size", "requested_size"];
        r.segments.iter_mut().for_each(|s| sums.iter().for_each(|name| change(s, name, |n| 2 * n)));
    }),
    ("more requested than blocks have", |r| r.each_block(|b| change(b, "requested_size", |n| 2 * n))),
    ("sizes in the trace doubled", |r| r.each_event(|e| change(e, "size", |n| 2 * n))),
    ("sizes in the trace halved", |r| r.each_event(|e| change(e, "size", |n| n / 2))),
    ("sizes of allocations doubled", |r| {
        r.each_event(|e| {
            if !is_action(e, &SEGMENT_EVENTS) {
                change(e, "size", |n| 2 * n);
            }
        });
    }),
    ("trace repeated", |r| {
        let again = r.trace().clone();
        r.trace().extend(again);
    }),
    ("trace reversed", |r| r.trace().reverse()),
    ("trace of another device", |r| r.traces.insert(0, Vec::new())),
    ("frees dropped", |r| r.without(&["free_requested", "free_completed"])),
    ("completed frees dropped", |r| r.without(&["free_completed"])),
    ("allocs dropped", |r| r.without(&["alloc"])),
    ("segment_alloc dropped", |r| r.without(&["segment_alloc"])),
    ("segment_free dropped", |r| r.without(&["segment_free"])),
    ("events of segments dropped", |r| r.without(&SEGMENT_EVENTS)),
    ("addresses of segments moved", |r| {
        r.segments.iter_mut().for_each(|s| change(s, "address", |n| n + (1 << 40)));
        r.each_block(|b| change(b, "address", |n| n + (1 << 40)));
    }),
    ("addresses of allocations moved", |r| {
        r.each_event(|e| {
            if !is_action(e, &SEGMENT_EVENTS) {
                change(e, "addr", |n| n + (1 << 40));
            }
        });
    }),
    ("a block that is in use is free", |r| r.set_state("active_allocated", "inactive")),
    ("a free block is in use", |r| r.set_state("inactive", "active_allocated")),
    ("first half dropped", |r| {
        let n = r.trace().len();
        r.trace().drain(..n / 2);
    }),
    ("last quarter dropped", |r| {
        let n = r.trace().len();
        r.trace().truncate(n - n / 4);
    }),
    ("every second event dropped", |r| {
        let mut at = 0;
        r.trace().retain(|_| {
            at += 1;
            at % 2 == 0
        });
    }),
    ("no trace", |r| r.trace().clear()),
    ("a segment twice", |r| {
        let first = r.segments[0].clone();
        r.segments.push(first);
    }),
    ("a segment less", |r| drop(r.segments.pop())),
    ("overlapping segments", |r| {
        let address = number(&r.segments[0], "address");
        set(&mut r.segments[1], "address", address + 512);
    }),
    ("negative sizes of blocks", |r| r.each_block(|b| change(b, "size", |n| -n))),
    ("no sizes of allocations", |r| {
        r.each_event(|e| {
            if is_action(e, &["alloc", "free_requested", "free_completed"]) {
                set(e, "size", 0);
            }
        });
    }),
    ("huge sizes of allocations", |r| {
        r.each_event(|e| {
            if is_action(e, &["alloc", "free_requested", "free_completed"]) {
                change(e, "size", |n| n + (1 << 50));
            }
        });
    }),
    ("times reversed", |r| {
        let times: Vec<i64> = r.trace().iter().map(|e| number(e, "time_us")).collect();
        let mut times = times.into_iter().rev();
        r.each_event(|e| set(e, "time_us", times.next().unwrap_or_default()));
    }),
    ("another stream", |r| r.each_event(|e| set(e, "stream", 7))),
    ("segments of another device", |r| r.segments.iter_mut().for_each(|s| set(s, "device", 1))),
    ("allocs and frees swapped", |r| {
        r.each_event(|e| {
            let swapped = match word(e, "action").as_str() {
                "alloc" => "free_completed",
                "free_completed" => "alloc",
                _ => return,
            };
            entries(e).insert(key("action"), Value::String(swapped.to_owned()));
        });
    }),
];
