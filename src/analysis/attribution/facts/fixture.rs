//! Recordings of made-up programs, event by event, for tests.

use crate::model::{
    Action, Anchor, Annotation, Block, BlockState, DeviceId, Event, EventTable, Frame, PoolKey, Segment,
    SegmentTable, Snapshot, StackId, Timeline, TimelineInput,
};
use std::collections::BTreeMap;

const TORCH: &str = "/env/lib/python3.11/site-packages/torch/";

/// A program under observation, which allocates and frees at rising addresses.
#[derive(Default)]
pub(crate) struct Program {
    snapshot: Snapshot,
    events: EventTable,
    live: BTreeMap<u64, (i64, StackId)>,
    next: u64,
    /// The offsets at which segments begin, besides the first.
    cuts: Vec<u64>,
    /// Whether events have no stacks.
    has_no_stacks: bool,
    /// The time of the next event; `None` if events have no times.
    clock_us: Option<i64>,
    /// Whether the oldest events are lost to newer ones, rather than never recorded.
    is_ring: bool,
}

/// A frame as `file function` or `file:line function`; `torch/…` stands for the installed package. Lines are 1 otherwise.
fn split(frame: &str) -> (String, i64, &str) {
    let (file, name) = frame.split_once(' ').unwrap_or((frame, ""));
    let (file, line) = match file.rsplit_once(':') {
        Some((file, line)) => (file, line.parse().unwrap_or(1)),
        None => (file, 1),
    };
    let file = file.strip_prefix("torch/").map_or_else(|| file.to_owned(), |rest| format!("{TORCH}{rest}"));
    (file, line, name)
}

impl Program {
    /// A program that is recorded without stacks.
    pub(crate) fn bare() -> Self {
        Self { has_no_stacks: true, ..Self::default() }
    }

    /// A program that is recorded with times and announcements.
    pub(crate) fn timed() -> Self {
        Self { clock_us: Some(1_000_000), ..Self::default() }
    }

    /// A program that is recorded with times and announcements into a ring buffer: the oldest events are lost where
    /// [`train`] starts late.
    pub(crate) fn ring() -> Self {
        Self { is_ring: true, ..Self::timed() }
    }

    /// Leave stacks out from here on.
    pub(crate) fn without_stacks(mut self) -> Self {
        self.has_no_stacks = true;
        self
    }

    /// Record an event with its time.
    fn push(&mut self, event: &Event) {
        let time_us = self.tick();
        self.events.push(&Event { time_us, ..*event });
    }

    fn tick(&mut self) -> Option<i64> {
        let now = self.clock_us?;
        self.clock_us = Some(now + 10);
        Some(now)
    }

    /// Announce the start or end of a range.
    pub(crate) fn announce(&mut self, name: &str, is_start: bool) {
        let Some(time_us) = self.tick() else { return };
        let name = self.snapshot.strings.intern(name.as_bytes()).0;
        let device = Some(DeviceId(0));
        self.snapshot.annotations.push(Annotation { device, name, is_start, time_us: Some(time_us) });
    }

    /// The id of a stack, innermost frame first.
    pub(crate) fn stack(&mut self, frames: &[&str]) -> StackId {
        let ids: Vec<_> = frames
            .iter()
            .map(|frame| {
                let (file, line, name) = split(frame);
                let mut text = |text: &str| self.snapshot.strings.intern(text.as_bytes()).0;
                let frame = Frame { file: text(&file), line, name: text(name), fx: None };
                self.snapshot.frames.intern(frame, None)
            })
            .collect();
        self.snapshot.stacks.intern(&ids)
    }

    /// Allocate at a new address, and return the address.
    pub(crate) fn alloc(&mut self, size: i64, frames: &[&str]) -> u64 {
        let addr = self.next + 0x1000_0000;
        self.next += size.unsigned_abs().next_multiple_of(512);
        let stack = if self.has_no_stacks { StackId::EMPTY } else { self.stack(frames) };
        self.push(&Event { stack, pool: Some(PoolKey::DEFAULT), ..Event::new(Action::Alloc, addr, size) });
        self.live.insert(addr, (size, stack));
        addr
    }

    /// Free the block at an address.
    pub(crate) fn free(&mut self, addr: u64, frames: &[&str]) {
        let stack = if self.has_no_stacks { StackId::EMPTY } else { self.stack(frames) };
        let Some((size, _)) = self.live.remove(&addr) else { return };
        for action in [Action::FreeRequested, Action::FreeCompleted] {
            self.push(&Event { stack, ..Event::new(action, addr, size) });
        }
    }

    /// Drop the events so far: the recording starts here.
    pub(crate) fn start_late(&mut self) {
        self.events = EventTable::default();
        if self.is_ring {
            return;
        }
        self.snapshot.annotations.clear();
        for held in self.live.values_mut() {
            held.1 = StackId::EMPTY;
        }
    }

    /// Drop the events, but keep the stacks of live blocks: only the state was recorded.
    pub(crate) fn forget_events(&mut self) {
        self.events = EventTable::default();
    }

    /// Begin a new segment.
    pub(crate) fn start_segment(&mut self) {
        self.cuts.push(self.next);
    }

    /// The recording of the program.
    pub(crate) fn finish(self) -> Snapshot {
        let Self { mut snapshot, events, live, next, cuts, .. } = self;
        let mut blocks: Vec<Block> = live
            .into_iter()
            .map(|(addr, (size, stack))| Block {
                addr,
                size,
                requested: size,
                state: BlockState::Allocated,
                stack,
            })
            .collect();
        blocks.sort_by_key(|block| block.addr);
        let starts = std::iter::once(0).chain(cuts.iter().copied());
        let ends = cuts.iter().copied().chain([next]);
        let before = |offset: u64| blocks.partition_point(|block| block.addr < 0x1000_0000 + offset);
        let segment = |(start, end): (u64, u64)| Segment {
            device: DeviceId(0),
            addr: 0x1000_0000 + start,
            size: (end - start) as i64,
            stream: Some(0),
            pool: Some(PoolKey::DEFAULT),
            kind: None,
            is_expandable: false,
            stack: StackId::EMPTY,
            blocks: before(start)..before(end),
        };
        let segments = SegmentTable {
            segments: starts.zip(ends).map(segment).collect(),
            blocks,
            ..SegmentTable::default()
        };
        let input = TimelineInput { device: DeviceId(0), events, segments, anchor: Anchor::EndState };
        snapshot.timelines.push(Timeline::build(input));
        snapshot
    }
}

const MAIN: &str = "/home/me/train.py <module>";
const CALL: &str = "torch/nn/modules/module.py _call_impl";

/// Stacks of a small training script.
pub(crate) const LOAD: &[&str] =
    &["torch/nn/modules/module.py convert", "torch/nn/modules/module.py _apply", MAIN];
pub(crate) const DATA: &[&str] = &["/home/me/data.py next", MAIN];
pub(crate) const FORWARD: &[&str] = &["torch/nn/modules/linear.py forward", CALL, MAIN];
pub(crate) const EVALUATE: &[&str] =
    &["torch/nn/modules/linear.py forward", CALL, "/home/me/train.py validate", MAIN];
pub(crate) const LOSS: &[&str] = &["/home/me/train.py loss", MAIN];
pub(crate) const BACKWARD: &[&str] = &[];
pub(crate) const STATE: &[&str] = &[
    "torch/optim/adam.py _init_group",
    "torch/optim/adam.py step",
    "torch/optim/optimizer.py wrapper",
    MAIN,
];
pub(crate) const FOREACH: &[&str] = &[
    "torch/optim/adam.py _multi_tensor_adam",
    "torch/optim/adam.py step",
    "torch/optim/optimizer.py wrapper",
    MAIN,
];
pub(crate) const ZERO_GRAD: &[&str] = &["torch/optim/optimizer.py zero_grad", MAIN];

/// Names that torch announces.
pub(crate) const STEP_NAME: &str = "Optimizer.step#Adam.step";
pub(crate) const ZERO_GRAD_NAME: &str = "Optimizer.zero_grad#Adam.zero_grad";

/// Sizes of the parameters.
pub(crate) const SIZES: [i64; 4] = [1 << 20, 3 << 20, 5 << 20, 40 << 20];

/// Addresses of the blocks that are live at the end of [`train`].
#[derive(Default)]
pub(crate) struct Held {
    pub(crate) parameters: Vec<u64>,
    pub(crate) state: Vec<u64>,
    pub(crate) gradients: Vec<u64>,
    pub(crate) input: Vec<u64>,
}

/// Load a model, and train it with Adam for some iterations; the last one stops before its step.
pub(crate) fn train(program: &mut Program, iterations: usize, late: Option<usize>) -> Held {
    let mut held =
        Held { parameters: SIZES.map(|size| program.alloc(size, LOAD)).to_vec(), ..Held::default() };
    for iteration in 0..iterations {
        if late == Some(iteration) {
            program.start_late();
        }
        let input = program.alloc(4096, DATA);
        for old in std::mem::replace(&mut held.input, vec![input]) {
            program.free(old, DATA);
        }
        let kept: Vec<u64> = (0..12).map(|_| program.alloc(30 << 20, FORWARD)).collect();
        let loss = program.alloc(4, LOSS);
        let gradient_of_loss = program.alloc(4, LOSS);
        for activation in kept.into_iter().rev() {
            let passing = program.alloc(29 << 20, BACKWARD);
            program.free(activation, BACKWARD);
            program.free(passing, BACKWARD);
        }
        held.gradients = SIZES.map(|size| program.alloc(size, BACKWARD)).to_vec();
        if iteration + 1 == iterations {
            break;
        }
        program.free(gradient_of_loss, LOSS);
        program.announce(STEP_NAME, true);
        if iteration == 0 {
            for size in SIZES {
                held.state.extend([program.alloc(size, STATE), program.alloc(size, STATE)]);
            }
        }
        let temporary = program.alloc(7 << 20, FOREACH);
        program.free(temporary, FOREACH);
        program.announce(STEP_NAME, false);
        program.announce(ZERO_GRAD_NAME, true);
        for gradient in held.gradients.drain(..) {
            program.free(gradient, ZERO_GRAD);
        }
        program.announce(ZERO_GRAD_NAME, false);
        program.free(loss, DATA);
        let validated = program.alloc(20 << 20, EVALUATE);
        program.free(validated, EVALUATE);
    }
    held
}

/// A recording of a state alone, without stacks: sizes of blocks by segment, in the order of addresses. Negative sizes
/// are holes.
pub(crate) fn state(segments: &[&[i64]]) -> Snapshot {
    let mut table = SegmentTable::default();
    let mut addr = 0x1000_0000u64;
    for sizes in segments {
        let first = table.blocks.len();
        let start = addr;
        for &size in *sizes {
            let state = if size < 0 { BlockState::Inactive } else { BlockState::Allocated };
            let (size, stack) = (size.abs(), StackId::EMPTY);
            table.blocks.push(Block { addr, size, requested: size, state, stack });
            addr += size.unsigned_abs();
        }
        table.segments.push(Segment {
            device: DeviceId(0),
            addr: start,
            size: (addr - start) as i64,
            stream: Some(0),
            pool: Some(PoolKey::DEFAULT),
            kind: None,
            is_expandable: false,
            stack: StackId::EMPTY,
            blocks: first..table.blocks.len(),
        });
    }
    let mut snapshot = Snapshot::default();
    snapshot.timelines.push(Timeline::build(TimelineInput {
        device: DeviceId(0),
        events: EventTable::default(),
        segments: table,
        anchor: Anchor::EndState,
    }));
    snapshot
}
