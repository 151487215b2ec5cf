//! The figures of one device.
//!
//! Conventions: sizes in bytes; an event index is a position in the device's trace from 0, and -1
//! stands for the state before the first event. Block sizes are requested sizes unless a name says
//! `rounded`. Field names are the keys of `stats --format json`.

use super::live_at;
use super::text_order::{Line, line_bytes, text_order};
use foldhash::{HashMap, HashSet};
use oomscope_model::{Allocation, BlockState, Bytes, Frame, Moment, PoolKey, Recording, StackId, Timeline};
use serde::Serialize;
use std::collections::BTreeMap;

/// Number of allocations that are listed at the peak, a part of the output format.
const TOP_ALLOCATIONS: usize = 10;

/// Number of stacks that are listed at the peak, a part of the output format.
const TOP_STACKS: usize = 5;

/// Figures of one device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeviceStats {
    /// Device number; -1 is pinned host memory.
    pub device: i64,
    /// Number of events.
    pub events: usize,
    /// Number of events by action.
    pub actions: BTreeMap<String, u64>,
    /// Number of different stacks among the events, with the empty one.
    pub distinct_stacks: usize,
    /// Streams of events and segments, ascending.
    pub streams: Vec<i64>,
    /// First and last recorded time, in microseconds since 1970; `None` if no event has one.
    pub time_us: Option<[i64; 2]>,
    /// Number of segments after the last event.
    pub segments: usize,
    /// The state after the last event.
    pub r#final: FinalState,
    /// The state before the first event.
    pub initial: InitialState,
    /// The largest totals.
    pub peak: Peak,
    /// Requests that could not be met.
    pub oom: Vec<Oom>,
    /// Number of contradictions between block events and the state from which they are undone, by kind.
    pub anomalies: BTreeMap<&'static str, u64>,
    /// Number of contradictions among segment events and blocks of the final state, by kind.
    pub segment_anomalies: BTreeMap<&'static str, u64>,
    /// Private pools of segments and events.
    pub private_pools: Vec<[i64; 2]>,
}

/// The state after the last event, from the snapshot's segments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FinalState {
    /// Segment bytes.
    pub reserved: Bytes,
    /// Bytes of allocated blocks, with rounding.
    pub allocated_rounded: Bytes,
    /// Bytes of active blocks, with rounding.
    pub active_rounded: Bytes,
    /// Requested bytes of active blocks.
    pub active: Bytes,
    /// Number of active blocks.
    pub live_blocks: usize,
    /// Number of inactive blocks.
    pub holes: usize,
    /// Bytes of inactive blocks.
    pub hole_bytes: Bytes,
    /// Bytes of the largest inactive block.
    pub largest_hole: Bytes,
}

/// The state before the first event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InitialState {
    /// Requested bytes of allocated blocks.
    pub allocated: Bytes,
    /// Requested bytes of active blocks.
    pub active: Bytes,
    /// Segment bytes.
    pub reserved: Bytes,
    /// Number of active blocks.
    pub live_blocks: usize,
}

/// The largest totals, and the events after which they were first reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Peak {
    /// Most active bytes.
    pub active: Bytes,
    /// Event of the most active bytes.
    pub active_index: i64,
    /// Most allocated bytes.
    pub allocated: Bytes,
    /// Event of the most allocated bytes.
    pub allocated_index: i64,
    /// Most reserved bytes.
    pub reserved: Bytes,
    /// Event of the most reserved bytes.
    pub reserved_index: i64,
    /// Number of active blocks at the active peak.
    pub live_blocks: usize,
    /// The largest allocations at the active peak.
    pub top: Vec<TopAllocation>,
    /// The stacks with most bytes at the active peak.
    pub top_stacks: Vec<TopStack>,
}

/// One of the largest allocations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TopAllocation {
    /// Its address.
    pub addr: u64,
    /// Requested bytes.
    pub size: Bytes,
    /// Its alloc event; absent if it is older than the trace.
    pub alloc_index: Option<u32>,
}

/// One of the stacks with most bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TopStack {
    /// Bytes allocated with it.
    pub bytes: Bytes,
    /// Its innermost frame as `file:line:name`; empty if no stack was recorded.
    pub innermost: String,
}

/// A request that could not be met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Oom {
    /// Its event.
    pub index: u32,
    /// Requested bytes, rounded up to a block size.
    pub requested: Bytes,
    /// Bytes that the device had left; `None` if that was not recorded.
    pub device_free: Option<Bytes>,
}

/// The figures of one device.
pub fn device_stats(recording: &Recording) -> DeviceStats {
    let (block, segment) =
        recording.anomalies.iter().partition::<Vec<_>, _>(|(kind, _)| kind.is_about_blocks());
    let named = |counts: Vec<(oomscope_model::Anomaly, u64)>| {
        counts.into_iter().map(|(kind, n)| (kind.name(), n)).collect()
    };
    let ooms = recording.ooms.iter();
    DeviceStats {
        device: recording.device.0,
        events: recording.events.len(),
        actions: actions(recording),
        distinct_stacks: distinct_stacks(recording),
        streams: recording.streams(),
        time_us: recording.events.time_range_us().map(|(first, last)| [first, last]),
        segments: recording.segments.segments.len(),
        r#final: final_state(recording),
        initial: InitialState {
            allocated: recording.allocated.at(Moment::START),
            active: recording.active.at(Moment::START),
            reserved: recording.reserved.at(Moment::START),
            live_blocks: recording.initial_live_blocks,
        },
        peak: peak(recording),
        oom: ooms
            .map(|o| Oom { index: o.event.0, requested: o.requested, device_free: o.device_free })
            .collect(),
        anomalies: named(block),
        segment_anomalies: named(segment),
        private_pools: private_pools(recording),
    }
}

fn actions(recording: &Recording) -> BTreeMap<String, u64> {
    let (snapshot, events) = (recording.snapshot(), &recording.events);
    let mut counts: HashMap<_, u64> = HashMap::default();
    for ix in events.indices() {
        *counts.entry(events.action(ix)).or_default() += 1;
    }
    let named = counts
        .into_iter()
        .map(|(action, n)| (snapshot.actions.name(action, &snapshot.strings).into_owned(), n));
    named.collect()
}

/// Number of different stacks. Stacks that differ in FX fields alone count once, as they read the same.
fn distinct_stacks(recording: &Recording) -> usize {
    let (snapshot, events) = (recording.snapshot(), &recording.events);
    let mut is_used = vec![false; snapshot.stacks.len()];
    for ix in events.indices() {
        is_used[events.stack(ix).index()] = true;
    }
    let used = (0..).map(StackId).zip(is_used).filter_map(|(id, used)| used.then_some(id));
    if !snapshot.frames.has_fx() {
        return used.count();
    }
    let readable = |id| -> Vec<Frame> {
        let frames = snapshot.stacks.frames(id).iter();
        frames.map(|&frame| Frame { fx: None, ..snapshot.frames.get(frame) }).collect()
    };
    used.map(readable).collect::<HashSet<_>>().len()
}

fn final_state(timeline: &Timeline) -> FinalState {
    let blocks = &timeline.segments.blocks;
    let sum = |keep: fn(BlockState) -> bool| total(blocks.iter().filter(|b| keep(b.state)).map(|b| b.size));
    // A block counts once, even if two segments list its address.
    let live: HashMap<u64, Bytes> =
        blocks.iter().filter(|b| b.is_active()).map(|b| (b.addr, b.requested)).collect();
    let holes = || blocks.iter().filter(|b| !b.is_active()).map(|b| b.size);
    FinalState {
        reserved: timeline.segments.reserved(),
        allocated_rounded: sum(|state| state == BlockState::Allocated),
        active_rounded: sum(|state| state != BlockState::Inactive),
        active: total(live.values().copied()),
        live_blocks: live.len(),
        holes: holes().count(),
        hole_bytes: total(holes()),
        largest_hole: holes().max().unwrap_or_default(),
    }
}

/// A sum that saturates, as sizes come from the file.
fn total(sizes: impl Iterator<Item = Bytes>) -> Bytes {
    sizes.sum::<Bytes>()
}

/// The event that led to a moment; -1 for the start, by the conventions above.
fn index(moment: Moment) -> i64 {
    i64::from(moment.0) - 1
}

fn peak(recording: &Recording) -> Peak {
    let (active_at, active) = recording.active.peak();
    let (allocated_at, allocated) = recording.allocated.peak();
    let (reserved_at, reserved) = recording.reserved.peak();
    let live = live_at(recording, active_at);
    let top = live.iter().take(TOP_ALLOCATIONS);
    Peak {
        active,
        active_index: index(active_at),
        allocated,
        allocated_index: index(allocated_at),
        reserved,
        reserved_index: index(reserved_at),
        live_blocks: recording.peak_live_blocks,
        top: top
            .map(|a| TopAllocation {
                addr: a.addr,
                size: a.size,
                alloc_index: a.alloc_event().map(|ix| ix.0),
            })
            .collect(),
        top_stacks: top_stacks(recording, &live),
    }
}

/// The stacks of live blocks, most bytes first. By convention, a block from before the trace has the stack of
/// the final block at its address.
fn top_stacks(recording: &Recording, live: &[Allocation]) -> Vec<TopStack> {
    let snapshot = recording.snapshot();
    let at_end: HashMap<u64, StackId> =
        recording.segments.blocks.iter().filter(|b| b.is_active()).map(|b| (b.addr, b.stack)).collect();
    let mut by_stack: BTreeMap<StackId, Bytes> = BTreeMap::new();
    for a in live {
        let stack = match a.alloc_event() {
            Some(ix) => recording.events.stack(ix),
            None => at_end.get(&a.addr).copied().unwrap_or(StackId::EMPTY),
        };
        let bytes = by_stack.entry(stack).or_default();
        *bytes += a.size;
    }
    // Frames may differ in what their lines do not show.
    let mut by_lines: HashMap<Vec<Line>, Bytes> = HashMap::default();
    for (stack, bytes) in by_stack {
        let lines = snapshot.stacks.frames(stack).iter().map(|&id| snapshot.frames.get(id));
        let total =
            by_lines.entry(lines.map(|frame| (frame.file, frame.line, frame.name)).collect()).or_default();
        *total += bytes;
    }
    let mut totals: Vec<(Vec<Line>, Bytes)> = by_lines.into_iter().collect();
    // In the order of their texts, which are not put together: names may be long.
    totals.sort_by(|(a, of_a), (b, of_b)| of_b.cmp(of_a).then_with(|| text_order(snapshot, a, b)));
    let innermost = |lines: &[Line]| {
        let bytes = lines.first().map(|&line| line_bytes(snapshot, line).concat()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let top = totals.into_iter().take(TOP_STACKS);
    top.map(|(lines, bytes)| TopStack { bytes, innermost: innermost(&lines) }).collect()
}

fn private_pools(timeline: &Timeline) -> Vec<[i64; 2]> {
    timeline.pools().into_iter().filter(|pool| pool.is_private()).map(|PoolKey(a, b)| [a, b]).collect()
}
