//! A recording that is ready to be simulated.

use super::allocator::LaidSegment;
use super::inference;
use super::program::Program;
use super::replay::{self, Fidelity, Outcome, Statistics};
use super::requests::Requests;
use super::settings::{Device, ExpandableSegments, Rules, Settings, TieBreak};
use super::until::Until;
use oomscope_model::{EventIx, Moment, Recording, Timeline};
use std::sync::OnceLock;

/// One device's recording, with all that it shows of the allocator that it came from.
#[derive(Debug, Clone)]
pub struct Subject {
    requests: Requests,
    recorded: Settings,
    expandable: ExpandableSegments,
    tie_break: TieBreak,
    device: Device,
    fidelity: Fidelity,
    /// The pair of pool and stream of each allocation, once a changed program asks for it.
    pools: OnceLock<Vec<u32>>,
}

impl Subject {
    /// Read the requests and find out how well the simulation reproduces them. This takes about as long as two
    /// simulations.
    pub fn new(recording: &Recording) -> Self {
        Self::on_device(recording, Device::default())
    }

    /// Read the requests of a device of which something is known. What is `None` is inferred from the recording.
    pub fn on_device(recording: &Recording, known: Device) -> Self {
        let recorded = Settings::in_effect(recording);
        let mut requests = Requests::of(recording, &recorded);
        let mut tie_break = inference::tie_break(recording);
        let mut device = inference::device(recording, &requests, &recorded, tie_break, known);
        // With the device's limits, so that a request empties the cache where it did; range lengths need decided requests.
        inference::decide_open_requests(&mut requests, &Rules::new(&recorded, tie_break, &device));
        device = inference::with_total_memory(
            recording,
            &requests,
            &Rules::new(&recorded, tie_break, &device),
            device,
        );
        let rules = |tie_break| Rules::new(&recorded, tie_break, &device);
        let mut fidelity = replay::compare(recording, &requests, &rules(tie_break));
        if !fidelity.is_complete() {
            let other = tie_break.other();
            let otherwise = replay::compare(recording, &requests, &rules(other));
            if fidelity.identical < otherwise.identical {
                (tie_break, fidelity) = (other, otherwise);
            }
        }
        let expandable = ExpandableSegments::of(recording);
        Self { requests, recorded, expandable, tie_break, device, fidelity, pools: OnceLock::new() }
    }

    /// The same device as it would have gone on from an event: its requests before that, and those of a timeline with the same
    /// first events from there. What is known of the recording stays known.
    pub fn continued(&self, timeline: &Timeline, from: EventIx, until: Until) -> Self {
        let requests = self.requests.continued(timeline, from, until);
        Self { requests, recorded: self.recorded.clone(), pools: OnceLock::new(), ..*self }
    }

    /// How far its requests reach.
    pub fn until(&self) -> Until {
        self.requests.until
    }

    /// The settings of the recording, as far as they are obeyed.
    pub fn recorded_settings(&self) -> &Settings {
        &self.recorded
    }

    /// Whether expandable segments are in effect.
    pub fn expandable_segments(&self) -> ExpandableSegments {
        self.expandable
    }

    /// How far the simulation reproduces the recording under its own settings.
    pub fn fidelity(&self) -> Fidelity {
        self.fidelity
    }

    /// The device, as far as it is known.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The last recorded request that failed.
    pub fn recorded_oom(&self) -> Option<EventIx> {
        self.requests.last_oom()
    }

    /// Number of blocks from before the trace that lie in no segment, which the simulation leaves out.
    pub fn unplaced(&self) -> usize {
        self.requests.initial.unplaced
    }

    /// The recording with each request's size times a factor; a request for 0 bytes is left out. Blocks from before the
    /// trace keep their sizes.
    pub fn scaled(&self, factor: impl Fn(EventIx) -> f64) -> Self {
        let requests = self.requests.scaled(factor);
        Self { requests, recorded: self.recorded.clone(), pools: OnceLock::new(), ..*self }
    }

    /// The simulated segment map at a moment, by address.
    pub fn layout_at(&self, settings: &Settings, device: &Device, moment: Moment) -> Vec<LaidSegment> {
        replay::layout_at(&self.requests, Rules::new(settings, self.tie_break, device), moment)
    }

    /// The allocator's counters at a moment, under the settings of the recording.
    ///
    /// They are those of the program's allocator if nothing was allocated before the recording, and the simulation differs in
    /// nothing up to that moment ([`Fidelity::first_difference`]).
    pub fn statistics_at(&self, moment: Moment) -> Statistics {
        let rules = Rules::new(&self.recorded, self.tie_break, &self.device);
        replay::statistics_at(&self.requests, rules, moment)
    }

    /// Whether something was reserved before the recording.
    pub fn starts_late(&self) -> bool {
        !self.requests.initial.segments.is_empty() || 0 < self.requests.initial.unplaced
    }

    /// A changed program under some settings, on a device.
    pub fn simulate_program(&self, program: &Program<'_>, settings: &Settings, device: &Device) -> Outcome {
        let frame = self.requests.frame_of(program, settings);
        let all = self.requests.of_program(program, &self.pools);
        replay::run_requests(&frame, all, Rules::new(settings, self.tie_break, device))
    }

    /// The recording under other settings, on a device.
    pub fn simulate(&self, settings: &Settings, device: &Device) -> Outcome {
        replay::run(&self.requests, Rules::new(settings, self.tie_break, device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reach, smallest_capacity, sweep, useful_settings};
    use oomscope_fixtures::alone;
    use oomscope_model::{
        Action, Anchor, Block, BlockState, Bytes, DeviceId, Event, EventTable, PoolKey, Segment,
        SegmentTable, StackId, TimelineInput,
    };
    use proptest::prelude::*;

    const MIB: Bytes = Bytes(1 << 20);

    fn event(action: Action, addr: u64, size: Bytes) -> Event {
        Event {
            action,
            addr: Some(addr),
            size,
            time_us: None,
            stream: Some(0),
            stack: StackId::EMPTY,
            pool: Some(PoolKey::DEFAULT),
            compile_context: None,
            user_metadata: None,
            internal_metadata: None,
            category: None,
            forward_stack: StackId::EMPTY,
            device_free: None,
        }
    }

    fn recording(events: &[Event], segments: SegmentTable, anchor: Anchor) -> Recording {
        let mut table = EventTable::default();
        for event in events {
            table.push(event);
        }
        alone(Timeline::build(TimelineInput { device: DeviceId(0), events: table, segments, anchor }))
    }

    fn any_size() -> impl Strategy<Value = Bytes> {
        let bytes = prop_oneof![
            4 => 1..3 * MIB.0,
            4 => (1i64..40).prop_map(|n| n * MIB.0),
            1 => prop_oneof![Just(0), Just(-1), Just(i64::MIN), Just(i64::MAX), Just(1 << 45)],
        ];
        bytes.prop_map(Bytes)
    }

    fn any_address() -> impl Strategy<Value = u64> {
        prop_oneof![
            6 => (0u64..40).prop_map(|n| (1 << 40) + (n << 20)),
            1 => prop_oneof![Just(0), Just(u64::MAX - 1), Just(1 << 60), Just(1 << 63)],
        ]
    }

    fn any_event() -> impl Strategy<Value = Event> {
        let action = prop_oneof![
            6 => Just(Action::Alloc),
            3 => Just(Action::FreeRequested),
            3 => Just(Action::FreeCompleted),
            1 => Just(Action::SegmentAlloc),
            1 => Just(Action::SegmentFree),
            1 => Just(Action::SegmentMap),
            1 => Just(Action::SegmentUnmap),
            1 => Just(Action::Oom),
            1 => Just(Action::Snapshot),
        ];
        let pool = prop_oneof![Just(None), Just(Some(PoolKey::DEFAULT)), Just(Some(PoolKey(0, 1)))];
        let rest = (
            pool,
            proptest::option::of(-1i64..2),
            0u32..3,
            proptest::option::of((0..90 * MIB.0).prop_map(Bytes)),
        );
        (action, any_address(), any_size(), rest).prop_map(
            |(action, addr, size, (pool, stream, stack, free))| {
                let device_free = free.filter(|_| action == Action::Oom);
                Event { pool, stream, stack: StackId(stack), device_free, ..event(action, addr, size) }
            },
        )
    }

    fn any_segments() -> impl Strategy<Value = SegmentTable> {
        let state = prop_oneof![
            Just(BlockState::Allocated),
            Just(BlockState::AwaitingFree),
            Just(BlockState::Inactive)
        ];
        let block =
            (any_address(), any_size(), any_size(), state).prop_map(|(addr, size, requested, state)| Block {
                addr,
                size,
                requested,
                state,
                stack: StackId::EMPTY,
            });
        let segment = (any_address(), any_size(), any::<bool>(), proptest::collection::vec(block, 0..4));
        proptest::collection::vec(segment, 0..4).prop_map(|all| {
            let mut table = SegmentTable::default();
            for (addr, size, is_expandable, blocks) in all {
                let from = table.blocks.len();
                table.blocks.extend(blocks);
                table.segments.push(Segment {
                    device: DeviceId(0),
                    addr,
                    size,
                    stream: Some(0),
                    pool: None,
                    kind: None,
                    is_expandable,
                    stack: StackId::EMPTY,
                    blocks: from..table.blocks.len(),
                });
            }
            table
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn nonsense_is_simulated_without_panicking(
            events in proptest::collection::vec(any_event(), 0..80),
            segments in any_segments(),
            is_whole in any::<bool>(),
            capacity in proptest::option::of(0..200u64 << 20),
            factor in 0.0..3.0,
        ) {
            let anchor = if is_whole { Anchor::EndState } else { Anchor::TraceOnly };
            let recording = recording(&events, segments, anchor);
            let subject = Subject::new(&recording);
            let fidelity = subject.fidelity();
            prop_assert!(fidelity.identical <= fidelity.events);
            prop_assert_eq!(fidelity.is_complete(), fidelity.first_difference.is_none());
            let device = Device { capacity_bytes: capacity, ..Device::default() };
            let settings = useful_settings(&subject, &device);
            for outcome in sweep(&subject, &settings, &device) {
                let counters = outcome.counters;
                let map = subject.layout_at(&outcome.settings, &device, Moment(events.len() as u32));
                prop_assert!(map.iter().all(|segment| 0 < segment.size()));
                prop_assert!(counters.allocated_bytes.peak <= counters.active_bytes.peak);
                // What was reserved before the first event may be more than there is, without any request that fails.
                let has_room = outcome.limit_bytes.is_none_or(|limit| outcome.peak_reserved_bytes() <= limit);
                prop_assert_eq!(outcome.fits(), outcome.oom.is_none() && has_room);
                prop_assert_eq!(matches!(outcome.reach, Reach::Oom(_)) && outcome.fits(), false);
            }
            let program = Program::recorded(&recording);
            let settings = subject.recorded_settings();
            let (again, once) = (subject.simulate_program(&program, settings, &device), subject.simulate(settings, &device));
            prop_assert_eq!(again.reach, once.reach);
            prop_assert_eq!(again.counters.reserved_bytes, once.counters.reserved_bytes);
            let scaled = subject.scaled(|event| if event.0 % 2 == 0 { factor } else { 1.0 });
            smallest_capacity(&scaled, subject.recorded_settings());
        }
    }

    /// 30 MiB in a segment of its own, freed, and two of 14 MiB from it.
    fn reuse() -> Vec<Event> {
        let base = 1 << 40;
        let second = base + (14 << 20);
        vec![
            event(Action::SegmentAlloc, base, 30 * MIB),
            event(Action::Alloc, base, 30 * MIB),
            event(Action::FreeRequested, base, 30 * MIB),
            event(Action::FreeCompleted, base, 30 * MIB),
            event(Action::Alloc, base, 14 * MIB),
            event(Action::Alloc, second, 14 * MIB),
        ]
    }

    #[test]
    fn a_recording_is_reproduced_and_its_smallest_capacity_found() {
        let recording = recording(&reuse(), SegmentTable::default(), Anchor::TraceOnly);
        let subject = Subject::new(&recording);
        assert_eq!((subject.fidelity().events, subject.fidelity().identical), (4, 4));
        let outcome = subject.simulate(subject.recorded_settings(), &subject.device());
        assert_eq!(outcome.peak_reserved_bytes(), 30 << 20);
        assert_eq!(outcome.counters.inactive_split_bytes.peak, 16 << 20);
        let (smallest, bytes) = smallest_capacity(&subject, subject.recorded_settings()).expect("it fits");
        assert_eq!((bytes, smallest.segment_allocs()), (30 << 20, 1));
        let map = subject.layout_at(subject.recorded_settings(), &subject.device(), Moment(5));
        let blocks: Vec<_> =
            map[0].blocks.iter().map(|block| (block.addr, block.size, block.state)).collect();
        let base = 1 << 40;
        assert_eq!(map.len(), 1);
        assert_eq!(
            blocks,
            [(base, 14 << 20, BlockState::Allocated), (base + (14 << 20), 16 << 20, BlockState::Inactive),]
        );
        let halved = subject.scaled(|event| if event.0 == 1 { 0.0 } else { 1.0 });
        let outcome = halved.simulate(halved.recorded_settings(), &halved.device());
        assert_eq!((outcome.peak_reserved_bytes(), outcome.segment_allocs()), (28 << 20, 2));
    }

    #[test]
    fn too_little_memory_is_an_oom_at_the_request() {
        let recording = recording(&reuse(), SegmentTable::default(), Anchor::TraceOnly);
        let subject = Subject::new(&recording);
        let device = Device { capacity_bytes: Some(20 << 20), ..Device::default() };
        let outcome = subject.simulate(subject.recorded_settings(), &device);
        let oom = outcome.oom.expect("30 MiB do not fit into 20 MiB");
        assert_eq!((oom.event, oom.requested_bytes, oom.reserved_bytes), (EventIx(1), 30 << 20, 0));
        assert_eq!(outcome.reach, Reach::Oom(EventIx(1)));
    }
}
