//! Small snapshots with stacks for tests.

use crate::model::{
    Action, Anchor, DeviceId, Event, EventTable, Frame, FrameId, FxInfo, SegmentTable, Snapshot, StackId,
    Timeline, TimelineInput,
};

/// The FX fields of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FxInfoKind {
    /// Frames of ordinary code, which have none.
    None,
    /// Frames of code that `torch.compile` generated.
    Some,
}

/// The events and stacks of one device.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    snapshot: Snapshot,
    events: EventTable,
}

impl Recording {
    /// Add a stack of frames such as `train.py:55 attention`, innermost first.
    pub(crate) fn stack(&mut self, frames: &[&str]) -> StackId {
        self.stack_with_fx(frames, FxInfoKind::None)
    }

    /// Add a stack of frames with or without FX fields.
    pub(crate) fn stack_with_fx(&mut self, frames: &[&str], fx: FxInfoKind) -> StackId {
        let ids: Vec<FrameId> = frames.iter().map(|text| self.frame(text, fx)).collect();
        self.snapshot.stacks.intern(&ids)
    }

    fn frame(&mut self, text: &str, fx: FxInfoKind) -> FrameId {
        let (file, rest) = text.split_once(':').expect("a file and a line");
        let (line, name) = rest.split_once(' ').expect("a line and a function");
        let strings = &mut self.snapshot.strings;
        let (file, name) = (strings.intern(file.as_bytes()).0, strings.intern(name.as_bytes()).0);
        let frame = Frame { file, line: line.parse().expect("a line number"), name, fx: None };
        let op = (fx == FxInfoKind::Some).then_some(name);
        let info = op.map(|op| FxInfo { op: Some(op), name: None, target: None, trace: None });
        self.snapshot.frames.intern(frame, info)
    }

    /// Allocate bytes in a slot at a time.
    pub(crate) fn alloc(&mut self, slot: u64, size: i64, stack: StackId, time_us: Option<i64>) {
        self.push(Action::Alloc, slot, size, stack, time_us);
    }

    /// Free the block in a slot.
    pub(crate) fn free(&mut self, slot: u64, size: i64, time_us: Option<i64>) {
        self.push(Action::FreeCompleted, slot, size, StackId::EMPTY, time_us);
    }

    /// Add an event of another kind.
    pub(crate) fn mark(&mut self, time_us: Option<i64>) {
        self.push(Action::Snapshot, 0, 0, StackId::EMPTY, time_us);
    }

    fn push(&mut self, action: Action, slot: u64, size: i64, stack: StackId, time_us: Option<i64>) {
        self.events.push(&Event {
            time_us,
            stream: Some(0),
            stack,
            ..Event::new(action, (slot + 1) << 20, size)
        });
    }

    /// The file, with one device.
    pub(crate) fn finish(mut self) -> Snapshot {
        self.snapshot.timelines.push(Timeline::build(TimelineInput {
            device: DeviceId(0),
            events: self.events,
            segments: SegmentTable::default(),
            anchor: Anchor::TraceOnly,
        }));
        self.snapshot
    }
}

/// A file with an allocation for each of some stacks, in this order.
pub(crate) fn allocated_with(stacks: &[&[&str]]) -> Snapshot {
    let mut recording = Recording::default();
    for (slot, frames) in (0..).zip(stacks) {
        let stack = recording.stack(frames);
        recording.alloc(slot, 100 + slot as i64, stack, None);
    }
    recording.finish()
}
