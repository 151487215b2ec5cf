//! One device: its events, its end state, and everything derived from the two.

use super::lifetimes::InitialBlock;
use super::rewind::{EndState, LiveBlock, rewind};
use super::{
    Action, AllocId, Anomalies, Anomaly, BlockState, Bytes, Curve, DeviceId, DeviceTrust, EventIx,
    EventTable, Lifetimes, Moment, PoolKey, ReservedRanges, SegmentTable, StackId, StepCurve, TimeIndex,
    Trust, Why,
};
use foldhash::HashMap;

/// The source of a timeline's absolute figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The snapshot's segments: the state after the last event.
    EndState,
    /// The events alone, because the file is damaged before the end of the trace. Memory that they neither
    /// allocate nor free is missing from all figures.
    TraceOnly,
}

/// A request that could not be met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OomEvent {
    /// Its `oom` event.
    pub event: EventIx,
    /// Bytes that were requested, rounded up to a block size.
    pub requested: Bytes,
    /// Bytes that the device had left; `None` if that was not recorded.
    pub device_free: Option<Bytes>,
}

/// The records that a timeline is built from.
#[derive(Debug)]
pub struct TimelineInput {
    /// The device.
    pub device: DeviceId,
    /// The events of its trace.
    pub events: EventTable,
    /// Its segments at the end of the trace.
    pub segments: SegmentTable,
    /// [`Anchor::EndState`] if the segments are complete.
    pub anchor: Anchor,
}

/// One device's memory over time.
#[derive(Debug)]
pub struct Timeline {
    /// The device.
    pub device: DeviceId,
    /// The events, in the order in which they happened.
    pub events: EventTable,
    /// Segments and blocks after the last event.
    pub segments: SegmentTable,
    /// Requested bytes, counted from alloc to completed free.
    pub active: Curve,
    /// Requested bytes, counted from alloc to requested free.
    pub allocated: Curve,
    /// Segment bytes.
    pub reserved: StepCurve,
    /// All allocations, with their moments.
    pub lifetimes: Lifetimes,
    /// Reserved address ranges over time.
    pub ranges: ReservedRanges,
    /// Requests that could not be met, by event.
    pub ooms: Vec<OomEvent>,
    /// The events at which the program took a snapshot, ascending. The last is mostly that of this file.
    pub dumps: Vec<EventIx>,
    /// Times of the moments.
    pub times: TimeIndex,
    /// The source of the absolute figures.
    pub anchor: Anchor,
    /// Live blocks before the first event, counted while undoing.
    pub initial_live_blocks: usize,
    /// Live blocks at the active peak, counted while undoing.
    pub peak_live_blocks: usize,
    /// Contradictions among the events, and between them and the end state.
    pub anomalies: Anomalies,
    /// How far its figures can be trusted.
    pub trust: DeviceTrust,
}

impl Timeline {
    /// Whether allocations were recorded, not only the state at the end.
    pub fn has_history(&self) -> bool {
        has_history(&self.events)
    }

    /// Derive everything from events and segments.
    pub fn build(input: TimelineInput) -> Self {
        let TimelineInput { device, mut events, segments, anchor } = input;
        let mut anomalies = segments.contradictions();
        events.shrink_to_fit();
        let end = match anchor {
            Anchor::EndState => EndState::of_segments(&segments, &mut events, &mut anomalies),
            Anchor::TraceOnly => EndState::of_trace(&events),
        };
        let addresses = events.address_count();
        let build_ranges = || match anchor {
            Anchor::EndState => {
                let (ranges, mut anomalies) = ReservedRanges::build(&events, &segments);
                anomalies.add(Anomaly::AllocOutsideOfSegments, ranges.allocs_outside(&events));
                (ranges, anomalies)
            }
            Anchor::TraceOnly => ReservedRanges::build_from_trace(&events),
        };
        let (rewound, (((ranges, range_anomalies), (ooms, dumps), times), (mut lifetimes, fates))) =
            rayon::join(
                || rewind(&events, &end, addresses),
                || {
                    rayon::join(
                        || (build_ranges(), find_marks(&events), TimeIndex::build(&events)),
                        || Lifetimes::follow(&events, addresses),
                    )
                },
            );
        anomalies.merge(&rewound.anomalies);
        anomalies.merge(&range_anomalies);
        lifetimes.add_initial(&rewound.initial, fates);
        let known = describe_initial(&rewound.initial, &lifetimes, &events, &segments);
        lifetimes.describe_initial(known);
        let known = block_stacks(&lifetimes, &events, &segments);
        lifetimes.describe_blocks(known);
        let reserved = StepCurve::from_steps(rewound.reserved);
        if anchor == Anchor::EndState && reserved.is_exceeded_by(&rewound.active) {
            anomalies.count(Anomaly::MoreInUseThanReserved);
        }
        let end = match anchor {
            Anchor::EndState => Trust::Known,
            Anchor::TraceOnly => Trust::AtLeast(Why::EndMissing),
        };
        let history = match [rewound.active.at(Moment::START), reserved.at(Moment::START)] {
            _ if !has_history(&events) => Trust::AtLeast(Why::NoHistory),
            [Bytes::ZERO, Bytes::ZERO] => Trust::Known,
            _ => Trust::AtLeast(Why::StartsLate),
        };
        Self {
            trust: DeviceTrust::of(&anomalies, end, history, 1 < reserved.steps().len()),
            device,
            active: rewound.active,
            allocated: rewound.allocated,
            reserved,
            lifetimes,
            ranges,
            ooms,
            dumps,
            times,
            anchor,
            initial_live_blocks: rewound.initial.len(),
            peak_live_blocks: rewound.peak_live_blocks,
            anomalies,
            events,
            segments,
        }
    }

    /// Number of moments: one before the first event, and one after each.
    pub fn moments(&self) -> usize {
        self.events.len() + 1
    }

    /// Streams of the events and segments, ascending.
    pub fn streams(&self) -> Vec<i64> {
        let mut streams = std::collections::BTreeSet::new();
        streams.extend(self.events.distinct_streams());
        streams.extend(self.segments.segments.iter().filter_map(|s| s.stream));
        streams.into_iter().collect()
    }

    /// The moment after the last event.
    pub fn end(&self) -> Moment {
        Moment(self.events.len() as u32)
    }

    /// Pools of the events and segments, ascending.
    pub fn pools(&self) -> Vec<PoolKey> {
        let mut pools = std::collections::BTreeSet::new();
        pools.extend(self.events.distinct_pools());
        pools.extend(self.segments.segments.iter().filter_map(|s| s.pool));
        pools.into_iter().collect()
    }
}

/// Whether allocations were recorded.
fn has_history(events: &EventTable) -> bool {
    events.indices().any(|ix| events.action(ix) == Action::Alloc)
}

/// The requests that failed, and the events at which a snapshot was taken.
pub(super) fn find_marks(events: &EventTable) -> (Vec<OomEvent>, Vec<EventIx>) {
    let (mut ooms, mut dumps) = (Vec::new(), Vec::new());
    for event in events.indices() {
        match events.action(event) {
            Action::Oom => {
                let e = events.get(event);
                // Before torch 2.0 the address of an `oom` held the free bytes.
                let device_free =
                    e.device_free.or_else(|| e.addr.and_then(|addr| i64::try_from(addr).ok().map(Bytes)));
                ooms.push(OomEvent { event, requested: e.size, device_free });
            }
            Action::Snapshot => dumps.push(event),
            _ => {}
        }
    }
    (ooms, dumps)
}

/// Stacks of final blocks for live allocations whose events have none: recordings with
/// `context="state"` keep stacks for blocks only.
pub(super) fn block_stacks(
    lifetimes: &Lifetimes,
    events: &EventTable,
    segments: &SegmentTable,
) -> HashMap<AllocId, StackId> {
    let active = segments.blocks.iter().filter(|block| block.is_active());
    let stacks: HashMap<u64, StackId> =
        active.filter(|block| block.stack != StackId::EMPTY).map(|block| (block.addr, block.stack)).collect();
    if stacks.is_empty() {
        return HashMap::default();
    }
    let live = lifetimes.live_at(Moment(events.len() as u32));
    let bare = live.filter(|&id| {
        let event = lifetimes.start(id).event();
        event.is_some_and(|event| events.stack(event) == StackId::EMPTY)
    });
    bare.filter_map(|id| Some((id, *stacks.get(&lifetimes.addr(id, events))?))).collect()
}

/// The properties of blocks from before the trace: from the end state if they survive, else from the event
/// that freed them. The stack of that event is not used, since it may be that of the free.
fn describe_initial(
    initial: &[LiveBlock],
    lifetimes: &Lifetimes,
    events: &EventTable,
    segments: &SegmentTable,
) -> Vec<InitialBlock> {
    let mut survivors: HashMap<u64, (StackId, Option<i64>, Option<PoolKey>)> = HashMap::default();
    for segment in &segments.segments {
        for block in segments.blocks_of(segment).iter().filter(|b| b.state != BlockState::Inactive) {
            survivors.insert(block.addr, (block.stack, segment.stream, segment.pool));
        }
    }
    let describe = |(i, block): (usize, &LiveBlock)| {
        let addr = events.address(block.addr);
        let id = AllocId(i as u32);
        let (stack, stream, pool) = match lifetimes.end(id).and_then(Moment::event) {
            Some(freed) => (StackId::EMPTY, events.stream(freed), events.pool(freed)),
            None => survivors.get(&addr).copied().unwrap_or((StackId::EMPTY, None, None)),
        };
        InitialBlock { addr, size: block.size, stream, pool, stack }
    };
    initial.iter().enumerate().map(describe).collect()
}
