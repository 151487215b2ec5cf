//! Every key that a snapshot can have is written and read again.

use super::{AsRecorded, DevicePart, EventRows, SnapshotPart, write_pickle};
use crate::Builder;
use oomscope_model::{
    Action, Anchor, Annotation, Block, BlockState, Bytes, DeviceId, Event, EventTable, Frame, FxInfo,
    PoolKey, Segment, SegmentTable, Setting, SettingValue, Snapshot, Timeline, TimelineInput,
};
use oomscope_pickle::decode;

fn read(pickle: &[u8]) -> Snapshot {
    let mut builder = Builder::default();
    let decoded = decode(pickle, &mut builder, None).expect("a pickle");
    builder.finish(decoded).expect("a snapshot")
}

fn rewritten(snapshot: &Snapshot) -> Snapshot {
    let device = |timeline| DevicePart {
        timeline,
        events: EventRows::Range(0..timeline.events.len() as u32),
        segments: timeline.segments.clone(),
    };
    let part = SnapshotPart {
        snapshot,
        devices: snapshot.timelines.iter().map(|timeline| device(timeline)).collect(),
        annotations: snapshot.annotations.clone(),
        keeps_frame: Vec::new(),
        rewrite: Box::new(AsRecorded),
    };
    read(&write_pickle(Vec::new(), &part).expect("memory can be written"))
}

/// A snapshot with every key.
fn full() -> Snapshot {
    let mut out = Snapshot::default();
    let mut text = |text: &str| out.strings.intern(text.as_bytes()).0;
    let [file, name, line, empty, small] = ["a.py", "f", "  x = y", "", "small"].map(&mut text);
    let [compile, user, internal, category, mark] = ["0/0", "u", "i", "GRADIENT", "step"].map(&mut text);
    let fx = FxInfo { op: Some(name), name: Some(file), target: Some(user), trace: Some(line) };
    let frame = out.frames.intern(Frame { file, line: 7, name, fx: None }, Some(fx));
    let plain = out.frames.intern(Frame { file: empty, line: 0, name: line, fx: None }, None);
    let stack = out.stacks.intern(&[frame]);
    let forward_stack = out.stacks.intern(&[plain, frame]);
    let alloc = Event {
        time_us: Some(5),
        stream: Some(3),
        stack,
        pool: Some(PoolKey(0, 1)),
        compile_context: Some(compile),
        user_metadata: Some(user),
        internal_metadata: Some(internal),
        category: Some(category),
        forward_stack,
        ..Event::new(Action::Alloc, u64::MAX - 512, 100)
    };
    let oom = Event { device_free: Some(Bytes(9)), addr: None, ..Event::new(Action::Oom, 0, 7) };
    let mut events = EventTable::default();
    events.push(&alloc);
    events.push(&oom);
    let block = Block {
        addr: u64::MAX - 512,
        size: Bytes(512),
        requested: Bytes(100),
        state: BlockState::Allocated,
        stack,
    };
    let segment = Segment {
        device: DeviceId(1),
        addr: block.addr,
        size: Bytes(512),
        stream: Some(3),
        pool: Some(PoolKey(0, 1)),
        kind: Some(small),
        is_expandable: true,
        stack,
        blocks: 0..1,
    };
    let segments = SegmentTable { segments: vec![segment], blocks: vec![block], ..SegmentTable::default() };
    let timeline =
        Timeline::build(TimelineInput { device: DeviceId(1), events, segments, anchor: Anchor::EndState });
    out.timelines.push(timeline.into());
    let setting = |name: &str, value| Setting { name: name.to_owned(), value };
    let table = vec![setting("256", SettingValue::Int(-1)), setting("x", SettingValue::None)];
    out.settings = vec![
        setting("conf", SettingValue::Text("expandable_segments:True".to_owned())),
        setting("on", SettingValue::Bool(true)),
        setting("ratio", SettingValue::Float(0.5)),
        setting("table", SettingValue::Table(table)),
        setting("empty", SettingValue::Table(Vec::new())),
    ];
    out.annotations =
        vec![Annotation { is_start: true, name: mark, device: Some(DeviceId(1)), time_us: Some(4) }];
    out
}

#[test]
fn every_key_is_read_again() {
    let written = full();
    let read = rewritten(&written);
    assert_eq!((read.issues.len(), read.unknown_keys.len()), (0, 0));
    assert_eq!((&read.settings, read.annotations.len()), (&written.settings, 1));
    let (here, there) = (&read.timelines[0], &written.timelines[0]);
    assert_eq!((here.device, here.events.len()), (DeviceId(1), 2));
    let shown = |snapshot: &Snapshot, timeline: &Timeline| {
        let text = |id| snapshot.strings.whole(id).into_owned();
        let frame = |&id: &_| {
            let frame = snapshot.frames.get(id);
            let fx = snapshot
                .frames
                .fx(frame)
                .map(|fx| [fx.op, fx.name, fx.target, fx.trace].map(|t| t.map(text)));
            (text(frame.file), frame.line, text(frame.name), fx)
        };
        let stack = |id| snapshot.stacks.frames(id).iter().map(frame).collect::<Vec<_>>();
        let event = timeline.events.get(oomscope_model::EventIx(0));
        let texts = [event.compile_context, event.user_metadata, event.internal_metadata, event.category];
        let segment = &timeline.segments.segments[0];
        (
            (event.addr, event.size, event.time_us, event.stream, event.pool),
            texts.map(|id| id.map(text)),
            [event.stack, event.forward_stack, segment.stack].map(stack),
            (
                segment.addr,
                segment.size,
                segment.stream,
                segment.pool,
                segment.kind.map(text),
                segment.is_expandable,
            ),
        )
    };
    assert_eq!(shown(&read, here), shown(&written, there));
    assert_eq!(here.ooms, there.ooms);
    assert_eq!(rewritten(&read).strings.len(), read.strings.len());
}

#[test]
fn parts_that_are_used_again_are_written_once() {
    let mut snapshot = full();
    let mut events = EventTable::default();
    for _ in 0..5000 {
        events.push(&snapshot.timelines[0].events.get(oomscope_model::EventIx(0)));
    }
    let input = TimelineInput {
        device: DeviceId(0),
        events,
        segments: SegmentTable::default(),
        anchor: Anchor::EndState,
    };
    snapshot.timelines[0] = Timeline::build(input).into();
    let device = |timeline| DevicePart {
        timeline,
        events: EventRows::Range(0..5000),
        segments: SegmentTable::default(),
    };
    let part = SnapshotPart {
        snapshot: &snapshot,
        devices: snapshot.timelines.iter().map(|timeline| device(timeline)).collect(),
        annotations: Vec::new(),
        keeps_frame: Vec::new(),
        rewrite: Box::new(AsRecorded),
    };
    let pickle = write_pickle(Vec::new(), &part).expect("memory can be written");
    // Keys and texts are two bytes each, the numbers up to eleven.
    assert!(pickle.len() < 5000 * 80, "{} bytes", pickle.len());
    assert_eq!(read(&pickle).timelines[0].events.len(), 5000);
}
