//! A small file for tests of lists and tables: events with stacks, streams, pools and times.

use crate::model::{
    Action, Anchor, DeviceId, Event, EventTable, Frame, PoolKey, SegmentTable, Snapshot, StackId, Timeline,
    TimelineInput,
};
use proptest::prelude::*;

/// An event, as tests write it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TestEvent {
    pub(crate) action: Action,
    pub(crate) addr: u64,
    pub(crate) size: i64,
    pub(crate) stream: Option<i64>,
    pub(crate) pool: Option<PoolKey>,
    pub(crate) time_us: Option<i64>,
    /// One of the file's stacks.
    pub(crate) stack: StackId,
}

/// A file with these events on one device, and four stacks: none, `a.py:1 f`, `b.py:2 alloc_big` within
/// torch's `linear.py`, and `A.py:3 G`.
pub(crate) fn snapshot(events: &[TestEvent]) -> Snapshot {
    let mut snapshot = Snapshot::default();
    let mut frame = |file: &str, line, name: &str| {
        let mut text = |text: &str| snapshot.strings.intern(text.as_bytes()).0;
        let frame = Frame { file: text(file), line, name: text(name), fx: None };
        snapshot.frames.intern(frame, None)
    };
    let own = [
        frame("/home/me/a.py", 1, "f"),
        frame("/home/me/b.py", 2, "alloc_big"),
        frame("/home/me/A.py", 3, "G"),
    ];
    let torch = frame("/env/torch/nn/linear.py", 9, "forward");
    snapshot.stacks.intern(&[own[0]]);
    snapshot.stacks.intern(&[torch, own[1]]);
    snapshot.stacks.intern(&[own[2], own[0]]);
    let mut table = EventTable::default();
    for event in events {
        table.push(&Event {
            time_us: event.time_us,
            stream: event.stream,
            stack: event.stack,
            pool: event.pool,
            ..Event::new(event.action, event.addr, event.size)
        });
    }
    let input = TimelineInput {
        device: DeviceId(0),
        events: table,
        segments: SegmentTable::default(),
        anchor: Anchor::TraceOnly,
    };
    snapshot.timelines.push(Timeline::build(input));
    snapshot
}

/// Any few events: with odd sizes, frees without an allocation, and missing times.
pub(crate) fn any_events() -> impl Strategy<Value = Vec<TestEvent>> {
    const ACTIONS: [Action; 7] = [
        Action::Alloc,
        Action::Alloc,
        Action::FreeRequested,
        Action::FreeCompleted,
        Action::FreeCompleted,
        Action::SegmentAlloc,
        Action::Oom,
    ];
    let sizes = prop_oneof![8 => 0i64..4096, 1 => Just(i64::MAX), 1 => Just(-7)];
    let places = (0usize..ACTIONS.len(), prop_oneof![9 => 0u64..8, 1 => Just(u64::MAX >> 10)], sizes);
    let rest = (proptest::option::of(-1i64..3), 0u32..4, proptest::option::of(0i64..500), 0i64..3);
    let event = (places, rest).prop_map(|((action, slot, size), (stream, stack, time_us, pool))| TestEvent {
        action: ACTIONS[action],
        addr: slot << 10,
        size,
        stream,
        pool: (pool != 0).then_some(PoolKey(0, pool - 1)),
        time_us,
        stack: StackId(stack),
    });
    proptest::collection::vec(event, 0..60)
}
