//! Every key that a snapshot can have is written and read again.

use super::{AsRecorded, DevicePart, EventRows, RecorderPart, SnapshotPart, write_pickle};
use crate::Builder;
use oomscope_model::{
    Action, Anchor, Annotation, Block, BlockState, Bytes, Census, CensusIx, CensusModule, CensusOwner,
    DeviceId, Event, EventTable, Frame, FxInfo, Missing, ModuleClass, NamedTensor, PoolKey, Segment,
    SegmentTable, Setting, SettingValue, Snapshot, TensorHolder, TensorRole, Timeline, TimelineInput,
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
        recorder: RecorderPart { facts: true, census: true },
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
        setting("list", SettingValue::List(vec![SettingValue::Int(1), SettingValue::List(Vec::new())])),
    ];
    out.recorder = vec![setting("rank", SettingValue::Int(3))];
    out.census = census();
    out.annotations =
        vec![Annotation { is_start: true, name: mark, device: Some(DeviceId(1)), time_us: Some(4) }];
    out
}

/// A census with a shard that a module has, and a tensor that a variable holds.
fn census() -> Census {
    let shard = NamedTensor {
        requires_grad: true,
        role: Some(TensorRole::OptimizerState),
        name: Some(CensusIx(1)),
        owner: Some(CensusIx(0)),
        key: Some(CensusIx(2)),
        whole: Some(CensusIx(1)),
        parameter_owner: Some(CensusIx(1)),
        ..NamedTensor::new(DeviceId(1), u64::MAX >> 1, Bytes(64))
    };
    let held = NamedTensor {
        requires_grad: false,
        grad_fn: Some(CensusIx(3)),
        role: None,
        name: None,
        owner: None,
        key: None,
        whole: None,
        parameter_owner: None,
        holder: Some(CensusIx(0)),
        ..shard
    };
    let holder = TensorHolder {
        variable: CensusIx(4),
        example: CensusIx(5),
        function: CensusIx(6),
        file: CensusIx(7),
        line: 9,
        collection: Some(CensusIx(8)),
    };
    let texts =
        ["float32", "a.weight", "exp_avg", "MulBackward0", "kept", "kept[3]", "fit", "/x/a.py", "list", ""];
    let class = CensusIx(2);
    let owners = vec![
        CensusOwner { is_optimizer: true, class, number: 1, holder: Some(CensusIx(0)), is_trained: None },
        CensusOwner { is_optimizer: false, class, number: 0, holder: None, is_trained: Some(true) },
    ];
    let modules = [(9, 1), (1, 0)].map(|(path, class)| CensusModule {
        owner: CensusIx(1),
        path: CensusIx(path),
        class: CensusIx(class),
    });
    let classes = vec![
        ModuleClass { name: CensusIx(2), file: Some(CensusIx(7)), line: 12, last_line: 20 },
        ModuleClass { name: CensusIx(8), file: None, line: 0, last_line: 0 },
    ];
    let texts = texts.map(str::to_owned).to_vec();
    Census::new(vec![shard, held], texts, vec![vec![2, 8], vec![4, 8]], owners, vec![holder])
        .with_modules(modules.to_vec(), classes)
        .begun_at(Some(7))
        .without(Missing { tensors: true, holders: false })
}

#[test]
fn every_key_is_read_again() {
    let written = full();
    let read = rewritten(&written);
    assert_eq!(read.recorder, written.recorder);
    let said = |census: &Census| {
        let tensors = census.tensors().iter();
        tensors
            .map(|tensor| {
                let text = |at: Option<CensusIx>| at.map(|at| census.text(at).to_owned());
                let owner = tensor.owner.map(|at| census.owner(at));
                let holder = tensor.holder.map(|at| census.holder(at));
                let texts =
                    holder.map(|h| [h.variable, h.example, h.function, h.file].map(|at| text(Some(at))));
                (
                    (tensor.device, tensor.addr, tensor.bytes, tensor.requires_grad, tensor.role),
                    [text(Some(tensor.dtype)), text(tensor.name), text(tensor.key), text(tensor.grad_fn)],
                    [Some(tensor.shape), tensor.whole].map(|at| at.map(|at| census.dimensions(at).to_vec())),
                    owner.map(|owner| {
                        (owner.is_optimizer, owner.number, text(Some(owner.class)), owner.holder)
                    }),
                    (texts, holder.map(|holder| (holder.line, text(holder.collection)))),
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(said(&read.census), said(&written.census));
    assert_eq!((read.census.tensors().len(), read.census.began_us()), (2, Some(7)));
    let modules = |census: &Census| {
        let module = |module: &CensusModule| {
            let ModuleClass { name, file, line, last_line } = census.class_of(module);
            let text = |at| census.text(at).to_owned();
            let owner = census.owner(module.owner);
            let said = (owner.is_optimizer, owner.is_trained);
            (said, text(module.path), text(name), file.map(text), [line, last_line])
        };
        census.modules().iter().map(module).collect::<Vec<_>>()
    };
    assert_eq!(modules(&read.census), modules(&written.census));
    assert_eq!(read.census.missing(), written.census.missing());
    assert_eq!(modules(&read.census).len(), 2);
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
        recorder: RecorderPart { facts: true, census: true },
        rewrite: Box::new(AsRecorded),
    };
    let pickle = write_pickle(Vec::new(), &part).expect("memory can be written");
    // Keys and texts are two bytes each, the numbers up to eleven.
    assert!(pickle.len() < 5000 * 80, "{} bytes", pickle.len());
    assert_eq!(read(&pickle).timelines[0].events.len(), 5000);
}
