//! From the end state back to the start: the totals after every event, and the blocks from before the
//! first.
//!
//! In a long run the ring buffer drops the beginning of the history, so a trace cannot be replayed from
//! nothing. The end state is complete, so undoing the events from there is exact.

use super::curve::CurveBuilder;
use super::{
    Action, AddrId, Anomalies, Anomaly, BlockState, Bytes, Curve, EventIx, EventTable, Moment, SegmentTable,
};

/// A block that is live at some moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LiveBlock {
    pub(super) addr: AddrId,
    /// Requested bytes.
    pub(super) size: Bytes,
    /// True if the program has given it back and another stream may still use it.
    pub(super) awaiting: bool,
}

/// The state after the last event, from which events are undone.
#[derive(Debug, Default)]
pub(super) struct EndState {
    pub(super) blocks: Vec<LiveBlock>,
    /// Segment bytes.
    pub(super) reserved: Bytes,
}

impl EndState {
    /// The state that the snapshot's segments describe.
    pub(super) fn of_segments(
        segments: &SegmentTable,
        events: &mut EventTable,
        anomalies: &mut Anomalies,
    ) -> Self {
        let mut blocks: Vec<LiveBlock> = Vec::new();
        let mut seen = foldhash::HashMap::default();
        for block in segments.blocks.iter().filter(|b| b.is_active()) {
            let live = LiveBlock {
                addr: events.intern_address(block.addr),
                size: block.requested,
                awaiting: block.state == BlockState::AwaitingFree,
            };
            if let Some(at) = seen.insert(live.addr, blocks.len()) {
                anomalies.count(Anomaly::BlocksShareAddress);
                blocks[at] = live;
                seen.insert(live.addr, at);
            } else {
                blocks.push(live);
            }
        }
        Self { blocks, reserved: segments.reserved() }
    }

    /// The state that the events alone leave, for a trace without its end. Blocks and segments that they
    /// neither allocate nor free are unknown and left out.
    pub(super) fn of_trace(events: &EventTable) -> Self {
        let mut slots = Slots::new(events.address_count());
        let (mut reserved, mut lowest) = (Bytes::ZERO, Bytes::ZERO);
        for ix in events.indices() {
            let (addr, size) = (events.addr_id(ix), events.size(ix));
            match events.action(ix) {
                Action::Alloc => slots.set(addr, size, SlotState::Allocated),
                Action::FreeRequested => {
                    let size = slots.get(addr).map_or(size, |(size, _)| size);
                    slots.set(addr, size, SlotState::Awaiting);
                }
                Action::FreeCompleted => slots.clear(addr),
                Action::SegmentAlloc | Action::SegmentMap => reserved += size,
                Action::SegmentFree | Action::SegmentUnmap => reserved -= size,
                _ => {}
            }
            lowest = lowest.min(reserved);
        }
        // The events may give back segments from before them. Raising the end by what they give back too
        // much keeps the total at zero or above.
        Self { blocks: slots.live(), reserved: reserved - lowest }
    }
}

/// The totals of a trace, and the state before it.
#[derive(Debug)]
pub(super) struct Rewound {
    /// Requested bytes between alloc and completed free, per moment.
    pub(super) active: Curve,
    /// Requested bytes between alloc and requested free, per moment.
    pub(super) allocated: Curve,
    /// Segment bytes, where they change.
    pub(super) reserved: Vec<(Moment, Bytes)>,
    /// The blocks that were live before the first event, by address.
    pub(super) initial: Vec<LiveBlock>,
    /// Number of live blocks at the first moment with the most active bytes.
    pub(super) peak_live_blocks: usize,
    pub(super) anomalies: Anomalies,
}

/// Undo all events from `end`. `addresses` is the number of address ids.
pub(super) fn rewind(events: &EventTable, end: &EndState, addresses: usize) -> Rewound {
    let n = events.len();
    let mut slots = Slots::new(addresses);
    for block in &end.blocks {
        slots.set(
            block.addr,
            block.size,
            if block.awaiting { SlotState::Awaiting } else { SlotState::Allocated },
        );
    }
    let mut now = Totals::of(&slots.live());
    let mut reserved = end.reserved;
    let (mut active, mut allocated) = (CurveBuilder::new(n + 1), CurveBuilder::new(n + 1));
    let mut out = Rewound {
        active: Curve::default(),
        allocated: Curve::default(),
        reserved: Vec::new(),
        initial: Vec::new(),
        peak_live_blocks: now.live,
        anomalies: Anomalies::default(),
    };
    let mut peak = now.active;
    for ix in events.indices().rev() {
        active.push_front(now.active);
        allocated.push_front(now.allocated);
        // `<=`, since of equal peaks the first counts, and this runs backwards.
        if peak <= now.active {
            (peak, out.peak_live_blocks) = (now.active, now.live);
        }
        let size = events.size(ix);
        match events.action(ix) {
            Action::SegmentAlloc | Action::SegmentMap => {
                out.reserved.push((Moment::after(ix), reserved));
                reserved -= size;
            }
            Action::SegmentFree | Action::SegmentUnmap => {
                out.reserved.push((Moment::after(ix), reserved));
                reserved += size;
            }
            action => {
                if let Err(anomaly) = undo(action, events, ix, &mut slots, &mut now) {
                    out.anomalies.count(anomaly);
                }
            }
        }
    }
    active.push_front(now.active);
    allocated.push_front(now.allocated);
    (out.active, out.allocated) = (active.finish(), allocated.finish());
    if peak <= now.active {
        out.peak_live_blocks = now.live;
    }
    out.reserved.push((Moment::START, reserved));
    out.reserved.reverse();
    out.initial = slots.live();
    out.initial.sort_by_key(|block| events.address(block.addr));
    out
}

/// Undo a block event.
///
/// # Errors
///
/// The way in which the event contradicts the state after it. An alloc of another size is undone all the
/// same; other contradicting events change nothing.
#[inline]
fn undo(
    action: Action,
    events: &EventTable,
    ix: EventIx,
    slots: &mut Slots,
    now: &mut Totals,
) -> Result<(), Anomaly> {
    let (addr, size) = (events.addr_id(ix), events.size(ix));
    match action {
        Action::Alloc => {
            let (held, state) = slots.get(addr).ok_or(Anomaly::AllocOfBlockNotLiveAfter)?;
            slots.clear(addr);
            now.live -= 1;
            now.active -= held;
            if state == SlotState::Allocated {
                now.allocated -= held;
            }
            if held == size { Ok(()) } else { Err(Anomaly::AllocSizeDiffers) }
        }
        Action::FreeCompleted if slots.get(addr).is_some() => Err(Anomaly::FreeCompletedOfBlockLiveAfter),
        Action::FreeCompleted => {
            slots.set(addr, size, SlotState::Awaiting);
            now.live += 1;
            now.active += size;
            Ok(())
        }
        Action::FreeRequested => match slots.get(addr) {
            None => Err(Anomaly::FreeRequestedWithoutCompletion),
            Some((_, SlotState::Allocated)) => Err(Anomaly::FreeRequestedOfBlockStillAllocatedAfter),
            Some((held, SlotState::Awaiting)) => {
                slots.set(addr, held, SlotState::Allocated);
                now.allocated += held;
                Ok(())
            }
        },
        _ => Ok(()),
    }
}

/// Running totals. Bytes saturate, as sizes come from the file; `live` is a count of slots and does not.
struct Totals {
    /// Requested bytes of all live blocks.
    active: Bytes,
    /// Requested bytes of the blocks that the program has not given back.
    allocated: Bytes,
    /// Number of live blocks.
    live: usize,
}

impl Totals {
    fn of(blocks: &[LiveBlock]) -> Self {
        let active = blocks.iter().map(|b| b.size).sum::<Bytes>();
        let allocated = blocks.iter().filter(|b| !b.awaiting).map(|b| b.size).sum::<Bytes>();
        Self { active, allocated, live: blocks.len() }
    }
}

/// The state of a live block: the active states of [`BlockState`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlotState {
    Allocated,
    Awaiting,
}

/// Requested bytes and state of the block at each address, by [`AddrId`]; `None` without a block.
struct Slots(Vec<Option<(Bytes, SlotState)>>);

impl Slots {
    fn new(addresses: usize) -> Self {
        Self(vec![None; addresses])
    }

    #[inline]
    fn get(&self, addr: AddrId) -> Option<(Bytes, SlotState)> {
        self.0[addr.index()]
    }

    #[inline]
    fn set(&mut self, addr: AddrId, size: Bytes, state: SlotState) {
        self.0[addr.index()] = Some((size, state));
    }

    #[inline]
    fn clear(&mut self, addr: AddrId) {
        self.0[addr.index()] = None;
    }

    fn live(&self) -> Vec<LiveBlock> {
        (0..)
            .map(AddrId)
            .zip(&self.0)
            .filter_map(|(addr, slot)| {
                slot.map(|(size, state)| LiveBlock { addr, size, awaiting: state == SlotState::Awaiting })
            })
            .collect()
    }
}
