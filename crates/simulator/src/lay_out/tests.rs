//! Random programs are laid out, and the simulator finds in the result what it made itself.

use super::{LaidOut, LayOutError, lay_out};
use crate::Subject;
use oomscope_model::{
    Action, Anchor, BlockState, Bytes, CONF_VARIABLES, Census, DeviceId, Event, EventTable, Moment,
    NamedTensor, PoolKey, Recording, SegmentTable, Setting, SettingValue, Snapshot, StackId, Timeline,
    TimelineInput,
};
use proptest::prelude::*;
use std::sync::Arc;

const MIB: i64 = 1 << 20;

/// Where allocation `n` of the requests is.
fn address(n: usize) -> u64 {
    0x7000_0000_0000 + ((n as u64) << 40)
}

fn setting(name: &str, value: SettingValue) -> Setting {
    Setting { name: name.to_owned(), value }
}

/// A file of requests, whose stacks are those that events name.
fn requests(conf: &str, events: impl IntoIterator<Item = Event>) -> Snapshot {
    let mut snapshot = Snapshot::default();
    for name in ["a", "b", "empty"] {
        let name = snapshot.strings.intern(name.as_bytes()).0;
        let frame = oomscope_model::Frame { file: name, line: 1, name, fx: None };
        let frame = snapshot.frames.intern(frame, None);
        snapshot.stacks.intern(&[frame]);
    }
    let empty_cache = snapshot.strings.intern(b"empty_cache").0;
    snapshot.actions.action(empty_cache, &snapshot.strings);
    let mut table = EventTable::default();
    events.into_iter().for_each(|event| table.push(&event));
    snapshot.settings = vec![setting(CONF_VARIABLES[0], SettingValue::Text(conf.to_owned()))];
    snapshot.recorder = vec![setting("estimate", SettingValue::Table(Vec::new()))];
    let timeline = Timeline::build(TimelineInput {
        device: DeviceId(0),
        events: table,
        segments: SegmentTable::default(),
        anchor: Anchor::TraceOnly,
    });
    snapshot.timelines = vec![timeline.into()];
    snapshot
}

fn event(action: Action, addr: u64, size: i64) -> Event {
    let stack = StackId(if action == Action::Other(0) { 3 } else { 1 });
    Event { stream: Some(0), stack, ..Event::new(action, addr, Bytes(size)) }
}

fn laid(snapshot: Snapshot) -> LaidOut {
    lay_out(Arc::new(snapshot)).expect("the requests can be met")
}

/// A program: what it does with each allocation, and when it empties the cache.
#[derive(Debug, Clone, Copy)]
enum Step {
    Alloc { size: i64, stream: i64 },
    Free(usize),
    Request(usize),
    Complete(usize),
    EmptyCache,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = prop_oneof![4 => 1..2 * MIB, 3 => MIB..12 * MIB, 2 => 10 * MIB..90 * MIB];
    let step = prop_oneof![
        10 => (size, 0..3i64).prop_map(|(size, stream)| Step::Alloc { size, stream }),
        6 => any::<prop::sample::Index>().prop_map(|at| Step::Free(at.index(1 << 16))),
        2 => any::<prop::sample::Index>().prop_map(|at| Step::Request(at.index(1 << 16))),
        2 => any::<prop::sample::Index>().prop_map(|at| Step::Complete(at.index(1 << 16))),
        1 => Just(Step::EmptyCache),
    ];
    proptest::collection::vec(step, 1..120)
}

/// An allocation: its number, size and stream.
type Made = (usize, i64, i64);

/// The events of a program, each with the pool or without.
fn events(steps: &[Step], pool: Option<PoolKey>) -> Vec<Event> {
    let mut out = Vec::new();
    // Allocations that live, and those that wait for a stream.
    let (mut live, mut awaiting): (Vec<Made>, Vec<Made>) = (Vec::new(), Vec::new());
    let mut made = 0;
    let about = |action, (n, size, stream): Made| Event {
        stream: Some(stream),
        pool,
        ..event(action, address(n), size)
    };
    let taken =
        |from: &mut Vec<Made>, at: usize| (!from.is_empty()).then(|| from.swap_remove(at % from.len()));
    for &step in steps {
        match step {
            Step::Alloc { size, stream } => {
                live.push((made, size, stream));
                out.push(about(Action::Alloc, (made, size, stream)));
                made += 1;
            }
            Step::Free(at) => {
                if let Some(freed) = taken(&mut live, at) {
                    out.extend(
                        [Action::FreeRequested, Action::FreeCompleted].map(|action| about(action, freed)),
                    );
                }
            }
            Step::Request(at) => {
                if let Some(freed) = taken(&mut live, at) {
                    out.push(about(Action::FreeRequested, freed));
                    awaiting.push(freed);
                }
            }
            Step::Complete(at) => {
                out.extend(taken(&mut awaiting, at).map(|freed| about(Action::FreeCompleted, freed)));
            }
            Step::EmptyCache => out.push(Event { pool, ..event(Action::Other(0), 0, 0) }),
        }
    }
    out
}

const CONFS: [&str; 5] = [
    "",
    "expandable_segments:True",
    "max_split_size_mb:32,max_non_split_rounding_mb:24",
    "roundup_power2_divisions:4,large_segment_size_mb:32",
    "garbage_collection_threshold:0.3,per_process_memory_fraction:0.1",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_is_laid_out_is_a_recording_that_the_simulator_reproduces(
        steps in steps(),
        conf in prop::sample::select(CONFS.to_vec()),
        has_pools in any::<bool>(),
    ) {
        let events = events(&steps, has_pools.then_some(PoolKey::DEFAULT));
        let asked = events.iter().filter(|event| event.action == Action::Alloc).count();
        let LaidOut { snapshot, counters } = laid(requests(conf, events));
        let recording = Recording::main(&Arc::new(snapshot)).expect("a device");
        prop_assert_eq!(recording.anomalies.iter().filter(|&(_, count)| count != 0).count(), 0);
        let made = recording.events.indices().filter(|&event| recording.events.action(event) == Action::Alloc);
        prop_assert_eq!(made.count(), asked);
        let subject = Subject::new(&recording);
        prop_assert!(subject.fidelity().is_complete(), "{:?}", subject.fidelity());
        let outcome = subject.simulate(subject.recorded_settings(), &subject.device());
        prop_assert_eq!(outcome.counters.reserved_bytes.peak, counters[0].1.reserved_bytes.peak);
        prop_assert_eq!(outcome.counters.allocated_bytes.peak, counters[0].1.allocated_bytes.peak);
        prop_assert_eq!(recording.reserved.peak().1.as_u64(), counters[0].1.reserved_bytes.peak);
        prop_assert_eq!(recording.active.peak().1.as_u64(), counters[0].1.requested_bytes.peak);
        // The segments at the end are those of the simulation, each in its place.
        let end = subject.layout_at(subject.recorded_settings(), &subject.device(), Moment(u32::MAX));
        let sizes: Vec<u64> = end.iter().map(super::super::LaidSegment::size).collect();
        let written = recording.segments.segments.iter().map(|segment| segment.size.as_u64());
        prop_assert_eq!(written.collect::<Vec<_>>(), sizes);
    }
}

#[test]
fn an_emptied_cache_gives_back_what_waited_for_a_stream() {
    let (first, second) = (address(0), address(1));
    let flush = event(Action::Other(0), 0, 0);
    let events = [
        event(Action::Alloc, first, 30 * MIB),
        event(Action::FreeRequested, first, 30 * MIB),
        flush,
        // Too late: the call has waited for it.
        event(Action::FreeCompleted, first, 30 * MIB),
        event(Action::Alloc, second, 1000),
    ];
    let LaidOut { snapshot, counters } = laid(requests("", events));
    let timeline = &snapshot.timelines[0];
    let found: Vec<(Action, i64)> = timeline
        .events
        .indices()
        .map(|ix| (timeline.events.action(ix), timeline.events.size(ix).0))
        .collect();
    assert_eq!(
        found,
        [
            (Action::SegmentAlloc, 30 * MIB),
            (Action::Alloc, 30 * MIB),
            (Action::FreeRequested, 30 * MIB),
            (Action::FreeCompleted, 30 * MIB),
            (Action::SegmentFree, 30 * MIB),
            (Action::SegmentAlloc, 2 * MIB),
            (Action::Alloc, 1000),
        ]
    );
    assert_eq!(timeline.events.stack(oomscope_model::EventIx(4)), flush.stack);
    let [used, rest] = timeline.segments.blocks[..] else { panic!("{:?}", timeline.segments) };
    assert_eq!((used.size, used.requested, used.state), (Bytes(1024), Bytes(1000), BlockState::Allocated));
    assert_eq!((used.stack, rest.state), (StackId(1), BlockState::Inactive));
    assert_eq!(counters[0].1.reserved_bytes.peak, 30 << 20);
    let counted = snapshot.counted_peaks(DeviceId(0));
    assert_eq!(counted.reserved_bytes, Some(Bytes(30 * MIB)));
    assert_eq!(counted.requested_bytes, Some(Bytes(30 * MIB)));
}

#[test]
fn names_move_with_their_memory() {
    let events = [
        event(Action::Alloc, address(0), 3000),
        event(Action::Alloc, address(1), 5000),
        event(Action::FreeCompleted, address(0), 3000),
    ];
    let tensors = [0, 1].map(|n| NamedTensor::new(DeviceId(0), address(n), Bytes(5000))).to_vec();
    let census = Census::new(tensors, vec!["float32".to_owned()], vec![vec![1250]], Vec::new(), Vec::new());
    let LaidOut { snapshot, .. } = laid(Snapshot { census, ..requests("", events) });
    let live = snapshot.timelines[0].segments.blocks.iter().find(|block| block.is_active()).expect("a block");
    assert_eq!(snapshot.census.at(DeviceId(0), live.addr).len(), 1);
    assert_eq!(snapshot.census.tensors().len(), 1, "what is gone has no name");
}

#[test]
fn what_is_no_list_of_requests_is_refused() {
    let alloc = |n| event(Action::Alloc, address(n), MIB);
    let refused = |snapshot: Snapshot| lay_out(Arc::new(snapshot)).expect_err("it is refused");
    let device = DeviceId(0);
    let nobody = Snapshot { recorder: Vec::new(), ..requests("", [alloc(0)]) };
    assert_eq!(refused(nobody), LayOutError::NoEstimate);
    let segment = event(Action::SegmentAlloc, address(0), 2 * MIB);
    assert_eq!(refused(requests("", [segment, alloc(0)])), LayOutError::HasSegments(device));
    assert!(
        matches!(refused(requests("", [alloc(0), alloc(0)])), LayOutError::Reused(of, event) if of == device && event.0 == 1)
    );
    let much = event(Action::Alloc, address(0), 1 << 47);
    assert!(
        matches!(refused(requests("", [alloc(1), much])), LayOutError::Absurd(of, event) if of == device && event.0 == 1)
    );
    let less = event(Action::Alloc, address(0), -1);
    assert!(matches!(refused(requests("", [less])), LayOutError::Absurd(..)));
    let shared = Arc::new(requests("", [alloc(0)]));
    let other = Arc::clone(&shared);
    assert_eq!(lay_out(shared).expect_err("it is used"), LayOutError::InUse);
    drop(other);
}
