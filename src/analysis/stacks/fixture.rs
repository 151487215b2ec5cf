//! Small snapshots with stacks for tests.

use crate::model::{
    Action, Anchor, DeviceId, Event, EventTable, Frame, FrameId, FxInfo, SegmentTable, Snapshot, StackId,
    Timeline, TimelineInput,
};

/// Whether frames have been seen by `torch.compile`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FxInfoKind {
    /// They have not.
    None,
    /// They have.
    Some,
}

/// Events of one device, and the stacks that they name.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    snapshot: Snapshot,
    events: EventTable,
}

impl Recording {
    /// A stack of frames such as `train.py:55 attention`, innermost first. Nothing is allocated
    /// with it by that.
    pub(crate) fn stack(&mut self, frames: &[&str]) -> StackId {
        self.stack_with_fx(frames, FxInfoKind::None)
    }

    /// The same with FX fields.
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

    /// Free what is in a slot.
    pub(crate) fn free(&mut self, slot: u64, size: i64, time_us: Option<i64>) {
        self.push(Action::FreeCompleted, slot, size, StackId::EMPTY, time_us);
    }

    /// Something else happens.
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

/// A file in which bytes are allocated with each of some stacks, in this order.
pub(crate) fn allocated_with(stacks: &[&[&str]]) -> Snapshot {
    let mut recording = Recording::default();
    for (slot, frames) in (0..).zip(stacks) {
        let stack = recording.stack(frames);
        recording.alloc(slot, 100 + slot as i64, stack, None);
    }
    recording.finish()
}
