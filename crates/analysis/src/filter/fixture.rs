//! Recordings for the filter's tests.

use oomscope_fixtures::first;
use oomscope_model::{
    Action, Anchor, Block, BlockState, Bytes, DeviceId, Event, EventTable, Frame, PoolKey, Segment,
    SegmentTable, Snapshot, StackId, StrId, Timeline, TimelineInput,
};

pub(super) const MIB: i64 = 1 << 20;
pub(super) const KIB: i64 = 1 << 10;

/// Puts a snapshot of one device together.
#[derive(Default)]
pub(super) struct Recording {
    snapshot: Snapshot,
    events: EventTable,
    segments: SegmentTable,
}

impl Recording {
    pub(super) fn text(&mut self, text: &str) -> StrId {
        self.snapshot.strings.intern(text.as_bytes()).0
    }

    /// The stack of some frames, innermost first.
    pub(super) fn stack(&mut self, frames: &[(&str, i64, &str)]) -> StackId {
        let frame = |&(file, line, name): &(&str, i64, &str)| {
            let frame = Frame { file: self.text(file), line, name: self.text(name), fx: None };
            self.snapshot.frames.intern(frame, None)
        };
        let frames: Vec<_> = frames.iter().map(frame).collect();
        self.snapshot.stacks.intern(&frames)
    }

    pub(super) fn push(&mut self, event: Event) {
        self.events.push(&event);
    }

    /// A segment of the final state with its live blocks: address, size, whether it waits, stack.
    pub(super) fn segment(&mut self, stream: i64, pool: PoolKey, blocks: &[(u64, i64, bool, StackId)]) {
        let first = self.segments.blocks.len();
        for &(addr, size, awaits, stack) in blocks {
            let state = if awaits { BlockState::AwaitingFree } else { BlockState::Allocated };
            self.segments.blocks.push(Block {
                addr,
                size: size.into(),
                requested: size.into(),
                state,
                stack,
            });
        }
        self.segments.segments.push(Segment {
            device: DeviceId(0),
            addr: blocks.iter().map(|block| block.0).min().unwrap_or_default(),
            size: Bytes(64 * MIB),
            stream: Some(stream),
            pool: Some(pool),
            kind: None,
            is_expandable: false,
            stack: StackId::EMPTY,
            blocks: first..self.segments.blocks.len(),
        });
    }

    pub(super) fn finish(self, anchor: Anchor) -> oomscope_model::Recording {
        let Self { mut snapshot, events, segments } = self;
        snapshot.timelines =
            vec![Timeline::build(TimelineInput { device: DeviceId(0), events, segments, anchor }).into()];
        first(snapshot)
    }
}

/// Six allocations, called A to F in the order of their ids.
///
/// | | address | size | stream | pool | stack | life |
/// | --- | --- | --- | --- | --- | --- | --- |
/// | A | 0x1000 | 1 MiB | 7 | default | attention | always |
/// | B | 0x200000 | 2 MiB | 0 | default, as the memory around it | none | until event 3 |
/// | C | 0x400000 | 100 B | 0 | default | attention in `train.py:55` | events 0 to 4, 4 ms |
/// | D | 0x500000 | 3 MiB | 7 | 1.0 | mlp in `my model.py:7` | from event 1, awaiting from 7 |
/// | E | 0x900000 | 5 KiB | 0 | default | torch only | from event 5, whose time is unknown |
/// | F | 0x400000 | 5 KiB | 0 | default | attention | from event 8, at 9 ms of 9 |
pub(super) fn sample() -> oomscope_model::Recording {
    let mut r = Recording::default();
    let linear = ("/env/site-packages/torch/nn/modules/linear.py", 125, "forward");
    let attention = r.stack(&[
        linear,
        ("/home/me/train.py", 55, "Attention.forward"),
        ("/home/me/train.py", 9, "<module>"),
    ]);
    let mlp = r.stack(&[linear, ("/home/me/my model.py", 7, "mlp"), ("/home/me/train.py", 9, "<module>")]);
    let torch = r.stack(&[("CUDACachingAllocator.cpp", 0, "c10::malloc"), linear]);
    let (activation, step) = (r.text("Activation"), r.text("step 3"));
    let default = Some(PoolKey::DEFAULT);
    let alloc = |addr, size, stack| Event {
        stack,
        stream: Some(0),
        pool: default,
        ..Event::new(Action::Alloc, addr, size)
    };
    let c = alloc(0x40_0000, 100, attention);
    let d = Event {
        stream: Some(7),
        pool: Some(PoolKey(1, 0)),
        category: Some(activation),
        ..alloc(0x50_0000, 3 * MIB, mlp)
    };
    let e = Event { user_metadata: Some(step), ..alloc(0x90_0000, 5 * KIB, torch) };
    let freed = |action, addr, size| Event { stream: Some(0), ..Event::new(action, addr, size) };
    let events = [
        c,
        d,
        freed(Action::FreeRequested, 0x40_0000, 100),
        freed(Action::FreeCompleted, 0x20_0000, 2 * MIB),
        freed(Action::FreeCompleted, 0x40_0000, 100),
        e,
        Event { addr: None, ..Event::new(Action::Oom, 0, 1 << 30) },
        freed(Action::FreeRequested, 0x50_0000, 3 * MIB),
        alloc(0x40_0000, 5 * KIB, attention),
    ];
    for (i, event) in (1..).zip(events) {
        r.push(Event { time_us: (i != 6).then_some(i * 1000), ..event });
    }
    r.segment(7, PoolKey::DEFAULT, &[(0x1000, MIB, false, attention)]);
    r.segment(7, PoolKey(1, 0), &[(0x50_0000, 3 * MIB, true, mlp)]);
    r.segment(
        0,
        PoolKey::DEFAULT,
        &[(0x40_0000, 5 * KIB, false, attention), (0x90_0000, 5 * KIB, false, torch)],
    );
    r.finish(Anchor::EndState)
}
