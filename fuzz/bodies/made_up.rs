//! Recordings that choices make up: mostly what an allocator does, with events and segments among it that none writes.

use super::choices::Choices;
use oomscope_model::{Recording, Snapshot};
use oomscope_snapshot::Builder;
use oomscope_snapshot::json;
use std::fmt::Write as _;
use std::sync::Arc;

const BASE: u64 = 0x7f00_0000_0000;
const ROOM_BYTES: u64 = 256 << 20;

/// The most events of a trace.
const MAX_EVENTS: usize = 300;

/// Frames, innermost first where a stack has several: file and function.
const FRAMES: [(&str, &str); 24] = [
    ("/job/train.py", "train_step"),
    ("/job/train.py", "<module>"),
    ("/job/model.py", "forward"),
    ("/job/evaluate.py", "evaluate"),
    ("/py/torch/nn/modules/module.py", "_call_impl"),
    ("/py/torch/nn/modules/linear.py", "forward"),
    ("/py/torch/nn/modules/linear.py", "__init__"),
    ("/py/torch/optim/adam.py", "_init_group"),
    ("/py/torch/optim/optimizer.py", "step"),
    ("/py/torch/optim/optimizer.py", "zero_grad"),
    ("/py/torch/_tensor.py", "backward"),
    ("/py/torch/autograd/graph.py", "_engine_run_backward"),
    ("/py/torch/utils/checkpoint.py", "checkpoint"),
    ("/py/torch/distributed/distributed_c10d.py", "all_reduce"),
    ("/py/torch/nn/parallel/distributed.py", "__init__"),
    ("??", "torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)"),
    ("??", "at::native::empty_cuda(c10::ArrayRef<long>)"),
    ("??", "at::_ops::mm::call(at::Tensor const&, at::Tensor const&)"),
    ("/tmp/torchinductor_a/ab/cabcabc.py", "call"),
    ("", ""),
    ("<string>", "<img src=x onerror=alert(1)>"),
    ("C:\\\\Users\\\\a\\\\b.py", "\\u001b[31m\\u202e=cmd|' /c'!A0"),
    ("/job/\\u0000\\ufffe\\n.py", "](x)`|*_;,\\t\\\""),
    ("/job/train.py:12 ", "f;g;h 17"),
];

const NAMES: [&str; 8] = [
    "",
    "step",
    "iteration 3",
    "ProfilerStep#7",
    "forward",
    "Optimizer.step#AdamW.step",
    "<img src=x>\\u001b[1m",
    "\\u202e|=1+1",
];

/// A recording that choices make up.
pub(crate) fn snapshot(choices: &mut Choices<'_>) -> Arc<Snapshot> {
    let text = Writer::write(choices);
    let mut builder = Builder::default();
    let decoded = json::decode(text.as_bytes(), &mut builder).expect("it is JSON");
    assert!(decoded.damage.is_none(), "{:?}", decoded.damage);
    Arc::new(builder.finish(decoded).expect("it is a snapshot"))
}

/// Always the same recording, of one device and some hundred events.
pub(crate) fn ordinary() -> Recording {
    let mut state = 1u32;
    let bytes = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    let snapshot = snapshot(&mut Choices::new(&bytes.take(1500).collect::<Vec<_>>()));
    Recording::all(&snapshot).next().expect("it has a device")
}

/// A segment with the allocations in it, as address and size.
struct Segment {
    addr: u64,
    size: u64,
    used: u64,
    blocks: Vec<(u64, i64)>,
}

struct Writer<'c, 'b> {
    choices: &'c mut Choices<'b>,
    out: String,
    segments: Vec<Segment>,
    is_expandable: bool,
    time_us: i64,
    events: usize,
}

impl<'c, 'b> Writer<'c, 'b> {
    fn write(choices: &'c mut Choices<'b>) -> String {
        let devices = 1 + usize::from(choices.once_in(4));
        let is_expandable = choices.once_in(3);
        let time_us = 1_700_000_000_000_000;
        let mut writer =
            Self { choices, out: String::new(), segments: Vec::new(), is_expandable, time_us, events: 0 };
        writer.settings();
        writer.annotations();
        let mut segments = String::new();
        writer.out.push_str("\"device_traces\": [");
        for device in 0..devices {
            writer.separate('[');
            writer.trace();
            segments.push_str(&writer.end_state(device));
        }
        let out = &mut writer.out;
        write!(out, "], \"segments\": [{}]}}", segments.trim_end_matches(',')).expect("text");
        writer.out
    }

    /// A comma, unless it follows `open`.
    fn separate(&mut self, open: char) {
        if !self.out.ends_with(open) {
            self.out.push(',');
        }
    }

    fn settings(&mut self) {
        let (expandable, size) = (self.is_expandable, self.choices.absurd());
        write!(
            self.out,
            "{{\"allocator_settings\": {{\"PYTORCH_CUDA_ALLOC_CONF\": \"max_split_size_mb:{size}\", \
             \"max_split_size\": {size}, \"expandable_segments\": {expandable}}}, "
        )
        .expect("text");
    }

    fn annotations(&mut self) {
        self.out.push_str("\"external_annotations\": [");
        for _ in 0..self.choices.below(6) {
            self.separate('[');
            let (name, stage) = (self.choices.pick(&NAMES), self.choices.pick(&["START", "END"]));
            let time = match self.choices.byte() {
                0..240 => self.time_us + i64::from(self.choices.short()),
                _ => self.choices.absurd(),
            };
            write!(
                self.out,
                "{{\"stage\": \"{stage}\", \"name\": \"{name}\", \"device\": 0, \"time_us\": {time}}}"
            )
            .expect("text");
        }
        self.out.push_str("], ");
    }

    fn trace(&mut self) {
        self.out.push('[');
        let from = self.events;
        // Every device takes a part of the bytes.
        while !self.choices.is_done() && self.events < from + MAX_EVENTS {
            self.time_us += i64::from(self.choices.byte()) * 37;
            match self.choices.byte() {
                0..110 => self.alloc(),
                110..205 => self.free(),
                205..215 => {
                    self.segment();
                }
                215..222 => self.free_segment(),
                222..232 => self.oom(),
                232..235 => self.event("snapshot", 0, 0),
                235..240 => break,
                240.. => self.absurd(),
            }
        }
        self.out.push(']');
    }

    fn alloc(&mut self) {
        let size = self.choices.size();
        let rounded = u64::try_from(size).unwrap_or(512).next_multiple_of(512).min(ROOM_BYTES);
        let room = |segment: &Segment| rounded <= segment.size - segment.used;
        let at = self.segments.iter().position(room).unwrap_or_else(|| self.segment());
        let segment = &mut self.segments[at];
        let addr = segment.addr + segment.used;
        segment.used += rounded.min(segment.size - segment.used);
        segment.blocks.push((addr, size));
        self.event("alloc", addr, size);
    }

    fn free(&mut self) {
        let n = self.choices.below(self.segments.len());
        let Some(segment) = self.segments.get(n) else { return };
        let at = self.choices.below(segment.blocks.len());
        let segment = &mut self.segments[n];
        if segment.blocks.is_empty() {
            return;
        }
        let (addr, size) = segment.blocks.remove(at);
        if segment.blocks.is_empty() {
            // Its room is used again.
            segment.used = 0;
        }
        self.event("free_requested", addr, size);
        if !self.choices.once_in(16) {
            self.event("free_completed", addr, size);
        }
    }

    fn segment(&mut self) -> usize {
        let size = self.choices.pick(&[2 << 20, 20 << 20, 20 << 20, 64 << 20, ROOM_BYTES]);
        let n = self.segments.len();
        let addr = BASE + n as u64 * ROOM_BYTES;
        self.segments.push(Segment { addr, size, used: 0, blocks: Vec::new() });
        self.event(if self.is_expandable { "segment_map" } else { "segment_alloc" }, addr, size as i64);
        n
    }

    fn free_segment(&mut self) {
        let Some(segment) = self.segments.pop_if(|segment| segment.blocks.is_empty()) else { return };
        let action = if self.is_expandable { "segment_unmap" } else { "segment_free" };
        self.event(action, segment.addr, segment.size as i64);
    }

    fn oom(&mut self) {
        let (size, free) = (self.choices.size(), self.choices.size());
        self.event("oom", free as u64, size);
    }

    fn absurd(&mut self) {
        const ACTIONS: [&str; 11] = [
            "alloc",
            "free_requested",
            "free_completed",
            "free",
            "segment_alloc",
            "segment_free",
            "segment_map",
            "segment_unmap",
            "snapshot",
            "oom",
            "unheard_of",
        ];
        let action = self.choices.pick(&ACTIONS);
        let addr = match self.choices.byte() {
            0..100 => BASE + (u64::from(self.choices.short()) << 9),
            _ => self.choices.absurd() as u64,
        };
        let size = self.choices.absurd();
        if self.choices.once_in(3) {
            self.time_us = self.choices.absurd().clamp(i64::MIN / 2, i64::MAX / 2);
        }
        self.event(action, addr, size);
    }

    fn event(&mut self, action: &str, addr: u64, size: i64) {
        self.separate('[');
        self.events += 1;
        let (stream, time) = (self.choices.pick(&[0, 0, 0, 7, -1]), self.time_us);
        let place = if action == "oom" { "device_free" } else { "addr" };
        write!(
            self.out,
            "{{\"action\": \"{action}\", \"{place}\": {addr}, \"size\": {size}, \"stream\": {stream}, \
             \"time_us\": {time}, \"frames\": "
        )
        .expect("text");
        self.frames();
        self.details();
        self.out.push('}');
    }

    fn details(&mut self) {
        if !self.choices.once_in(8) {
            return;
        }
        let name = self.choices.pick(&NAMES);
        let key = self.choices.pick(&["user_metadata", "internal_metadata", "compile_context", "category"]);
        write!(self.out, ", \"{key}\": \"{name}\", \"pool_id\": [{}, 1]", self.choices.byte() % 3)
            .expect("text");
        if self.choices.once_in(4) {
            self.out.push_str(", \"forward_frames\": ");
            self.frames();
        }
    }

    fn frames(&mut self) {
        self.out.push('[');
        for _ in 0..self.choices.below(6) {
            self.separate('[');
            let (file, name) = self.choices.pick(&FRAMES);
            let line = match self.choices.byte() {
                0..252 => i64::from(self.choices.byte() % 8),
                _ => self.choices.absurd(),
            };
            write!(self.out, "{{\"filename\": \"{file}\", \"line\": {line}, \"name\": \"{name}\"}}")
                .expect("text");
        }
        self.out.push(']');
    }

    /// The segments after the last event, with what the trace left in them, and maybe one that does not fit.
    fn end_state(&mut self, device: usize) -> String {
        let mut out = String::new();
        let expandable = self.is_expandable;
        for segment in std::mem::take(&mut self.segments) {
            let Segment { addr, size, blocks, .. } = segment;
            open_segment(&mut out, device, addr, size as i64, expandable);
            for (addr, requested) in blocks {
                let size = requested.saturating_add(511) / 512 * 512;
                block(&mut out, "active_allocated", addr, size, requested);
            }
            close(&mut out);
        }
        if self.choices.once_in(8) {
            let [addr, size] = [(); 2].map(|()| self.choices.absurd());
            open_segment(&mut out, device, addr as u64, size, expandable);
            for _ in 0..self.choices.below(4) {
                let states = ["active_allocated", "active_pending_free", "inactive", "unheard_of"];
                let [addr, size, requested] = [(); 3].map(|()| self.choices.absurd());
                block(&mut out, self.choices.pick(&states), addr as u64, size, requested);
            }
            close(&mut out);
        }
        out
    }
}

fn open_segment(out: &mut String, device: usize, addr: u64, size: i64, expandable: bool) {
    write!(
        out,
        "{{\"device\": {device}, \"address\": {addr}, \"total_size\": {size}, \"stream\": 0, \"segment_type\": \
         \"large\", \"is_expandable\": {expandable}, \"frames\": [], \"blocks\": ["
    )
    .expect("text");
}

fn close(out: &mut String) {
    if out.ends_with(',') {
        out.pop();
    }
    out.push_str("]},");
}

fn block(out: &mut String, state: &str, addr: u64, size: i64, requested: i64) {
    write!(
        out,
        "{{\"state\": \"{state}\", \"address\": {addr}, \"size\": {size}, \"requested_size\": {requested}, \
         \"frames\": []}},"
    )
    .expect("text");
}
