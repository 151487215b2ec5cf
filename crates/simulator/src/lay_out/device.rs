//! The requests of one device through the allocator.

use super::error::LayOutError;
use super::live::{Live, Moved, Stacks};
use super::trace::Trace;
use crate::allocator::{Counters, LaidBlock, LaidSegment};
use crate::inference;
use crate::replay::{Replay, StepResult};
use crate::requests::{Op, Request, Requests, Scope};
use crate::settings::{Device, Rules, Settings};
use oomscope_model::{
    Action, Block, Bytes, DeviceId, EventIx, EventTable, Recording, Segment, SegmentTable, StackId, StrId,
};

/// The memory after which the ranges of expandable segments are as long as on no device that there is. Longer ones would leave no
/// addresses for a hundred of them.
const RANGE_MEMORY_BYTES: u64 = 1 << 40;

/// What the allocator did on one device.
pub(super) struct Laid {
    pub(super) device: DeviceId,
    pub(super) events: EventTable,
    pub(super) counters: Counters,
    pub(super) moved: Moved,
    segments: Vec<LaidSegment>,
    stacks: Stacks,
}

/// Lay out the requests of a device, from an allocator without memory and with as much as it wants.
pub(super) fn lay_out(recording: &Recording, empties_cache: Option<Action>) -> Result<Laid, LayOutError> {
    let device = recording.device;
    let settings = Settings { memory_fraction: None, ..Settings::in_effect(recording) };
    let mut requests = Requests::of(recording, &settings);
    let has_failed = |request: &Request| matches!(request.op, Op::Oom { .. });
    if !recording.segments.segments.is_empty()
        || !requests.segments.is_empty()
        || requests.all.iter().any(has_failed)
    {
        return Err(LayOutError::HasSegments(device));
    }
    let is_flush = |event: EventIx| Some(recording.events.action(event)) == empties_cache;
    add_flushes(&mut requests, recording.events.indices().filter(|&event| is_flush(event)));
    let memory = Device { total_bytes: Some(RANGE_MEMORY_BYTES), ..Device::default() };
    let mut replay = Replay::new(&requests, Rules::new(&settings, inference::tie_break(recording), &memory));
    replay.allocator.use_addresses_of_a_driver();
    let mut trace = Trace::new(recording, &requests.pool_streams);
    let mut left = requests.all.iter().peekable();
    for event in recording.events.indices() {
        if is_flush(event) {
            // Torch waits for all streams before it gives memory back.
            trace.complete_awaiting(event);
        }
        while let Some(request) = left.next_if(|request| request.event <= event.0) {
            let result = replay.step(request);
            trace.segments(event, &replay.allocator.log);
            replay.allocator.log.clear();
            if let Op::Alloc { slot, requested, .. } = request.op {
                // Absurd sizes were brought to some that the allocator can count.
                let is_as_asked = Bytes::of_size(requested) == recording.events.size(event);
                let StepResult::Block(addr) = result else { return Err(LayOutError::Absurd(device, event)) };
                if !is_as_asked {
                    return Err(LayOutError::Absurd(device, event));
                }
                if trace.place(slot, Live { addr, size: requested }, event).is_some() {
                    return Err(LayOutError::Reused(device, event));
                }
            }
        }
        if !is_flush(event) {
            trace.event(event);
        }
    }
    let (events, moved, stacks) = trace.end();
    let (counters, segments) = (replay.allocator.counters, replay.allocator.layout());
    Ok(Laid { device, events, counters, moved, segments, stacks })
}

/// Add the calls that empty the cache to the requests.
fn add_flushes(requests: &mut Requests, flushes: impl Iterator<Item = EventIx>) {
    let flush = |event: EventIx| Request { event: event.0, op: Op::Flush(Scope::Everything) };
    requests.all.extend(flushes.map(flush));
    requests.all.sort_by_key(|request| request.event);
}

impl Laid {
    /// The segments at the end, whose kinds are these texts: small and large.
    pub(super) fn segments(&self, kinds: [StrId; 2]) -> SegmentTable {
        let mut out = SegmentTable::default();
        for laid in &self.segments {
            let start = out.blocks.len();
            let block = |block: &LaidBlock| Block {
                addr: block.addr,
                size: Bytes::of_size(block.size),
                requested: Bytes::of_size(block.requested),
                state: block.state,
                stack: self.stacks.of_blocks.get(&block.addr).copied().unwrap_or(StackId::EMPTY),
            };
            out.blocks.extend(laid.blocks.iter().map(block));
            let mapped = self.stacks.of_segments.range(..=laid.addr()).next_back();
            out.segments.push(Segment {
                device: self.device,
                addr: laid.addr(),
                size: Bytes::of_size(laid.size()),
                stream: Some(laid.stream),
                pool: Some(laid.pool),
                kind: Some(kinds[usize::from(laid.is_large)]),
                is_expandable: laid.is_expandable,
                stack: mapped.map_or(StackId::EMPTY, |(_, &stack)| stack),
                blocks: start..out.blocks.len(),
            });
        }
        out
    }
}
