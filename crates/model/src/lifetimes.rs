//! Allocations as lifetimes, and the set of allocations that are live at any moment.

use super::rewind::LiveBlock;
use super::{Action, AllocId, Bytes, EventIx, EventTable, Moment, PoolKey, StackId};
use foldhash::HashMap;

/// Stands for a moment after the end of the trace.
const NEVER: u32 = u32::MAX;

/// Number of entries that one summary entry covers, as a power of two: 16 of four bytes are one cache
/// line.
const FANOUT_BITS: u32 = 4;

/// The beginning of an allocation in the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It was live before the first recorded event.
    Before,
    /// It was allocated by this event.
    Event(EventIx),
}

impl Origin {
    /// The event that made the allocation; `None` if it was there before the first event.
    pub fn event(self) -> Option<EventIx> {
        match self {
            Self::Before => None,
            Self::Event(ix) => Some(ix),
        }
    }
}

/// One allocation, put together from the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    /// Its id.
    pub id: AllocId,
    /// Its beginning.
    pub origin: Origin,
    /// Address of the first byte.
    pub addr: u64,
    /// Requested bytes.
    pub size: Bytes,
    /// The stream that it belongs to; `None` if it is unknown.
    pub stream: Option<i64>,
    /// The pool that it belongs to; `None` if it is unknown.
    pub pool: Option<PoolKey>,
    /// The stack that allocated it; empty if none was recorded.
    pub stack: StackId,
    /// First moment at which it is live.
    pub start: Moment,
    /// First moment at which the program had given it back; `None` if that is not in the trace.
    pub requested: Option<Moment>,
    /// First moment at which it is gone; `None` if it survives the trace.
    pub end: Option<Moment>,
}

impl Allocation {
    /// The event that made it; `None` if it was there before the first event.
    pub fn alloc_event(&self) -> Option<EventIx> {
        self.origin.event()
    }

    /// True if the program has given it back at this moment while another stream may still use it.
    pub fn is_awaiting_at(&self, moment: Moment) -> bool {
        self.requested.is_some_and(|at| at <= moment) && self.end.is_none_or(|end| moment < end)
    }
}

/// Properties of a block from before the first event, which no alloc event can provide.
#[derive(Debug, Clone, Copy)]
pub(super) struct InitialBlock {
    pub(super) addr: u64,
    pub(super) size: Bytes,
    pub(super) stream: Option<i64>,
    pub(super) pool: Option<PoolKey>,
    pub(super) stack: StackId,
}

/// For each address, what befalls a block that is there before the trace, if one is.
#[derive(Debug)]
pub(super) struct InitialFates {
    requested: Vec<u32>,
    end: Vec<u32>,
}

/// Set a moment that was not known.
fn set_once(moment: &mut u32, to: u32) {
    if *moment == NEVER {
        *moment = to;
    }
}

/// All allocations of a trace, as columns of moments ordered by start.
#[derive(Debug, Default)]
pub struct Lifetimes {
    start: Vec<u32>,
    requested: Vec<u32>,
    end: Vec<u32>,
    initial: Vec<InitialBlock>,
    /// Stacks of final blocks, for live allocations whose events have no stack.
    block_stacks: HashMap<AllocId, StackId>,
    /// `latest_end[k][i]` is the latest end in group `i` of `16^(k + 1)` allocations. The search for live
    /// allocations skips groups that ended earlier.
    latest_end: Vec<Vec<u32>>,
}

impl Lifetimes {
    /// Follow every address through the trace: its allocations, and the fate of a block that was there before.
    pub(super) fn follow(events: &EventTable, addresses: usize) -> (Self, InitialFates) {
        let mut out = Self::default();
        let mut fates = InitialFates { requested: vec![NEVER; addresses], end: vec![NEVER; addresses] };
        // The latest allocation at each address; `NEVER` is above every id and stands for none.
        let mut holder = vec![NEVER; addresses];
        for ix in events.indices() {
            let action = events.action(ix);
            if !matches!(action, Action::Alloc | Action::FreeRequested | Action::FreeCompleted) {
                continue;
            }
            let after = Moment::after(ix).0;
            let addr = events.addr_id(ix).index();
            let id = holder[addr] as usize;
            // Without an allocation, it befalls a block from before the trace, as long as that can be there.
            let (requested, end) = match (out.requested.get_mut(id), out.end.get_mut(id)) {
                (Some(requested), Some(end)) => (requested, end),
                _ => (&mut fates.requested[addr], &mut fates.end[addr]),
            };
            match action {
                // The free of the block before it was not recorded.
                Action::Alloc => {
                    set_once(end, after);
                    holder[addr] = out.start.len() as u32;
                    out.push(after, NEVER);
                }
                // The first request counts; `rewind` counts a second one as a contradiction.
                Action::FreeRequested if *end == NEVER => set_once(requested, after),
                Action::FreeCompleted => {
                    set_once(end, after);
                    holder[addr] = NEVER;
                }
                _ => {}
            }
        }
        (out, fates)
    }

    /// Put the blocks from before the trace in front.
    pub(super) fn add_initial(&mut self, initial: &[LiveBlock], mut fates: InitialFates) {
        let mut first = Self::default();
        // Of several at one address, the last is the one that events are about.
        for block in initial.iter().rev() {
            let addr = block.addr.index();
            let [requested, end] =
                [&mut fates.requested, &mut fates.end].map(|fate| std::mem::replace(&mut fate[addr], NEVER));
            first.push(0, if block.awaiting { 0 } else { requested });
            first.end[first.start.len() - 1] = end;
        }
        for (mine, theirs) in [
            (&mut self.start, first.start),
            (&mut self.requested, first.requested),
            (&mut self.end, first.end),
        ] {
            mine.splice(0..0, theirs.into_iter().rev());
            mine.shrink_to_fit();
        }
        self.summarise();
    }

    fn push(&mut self, start: u32, requested: u32) {
        self.start.push(start);
        self.requested.push(requested);
        self.end.push(NEVER);
    }

    /// Build `latest_end`, up to a level of one entry.
    fn summarise(&mut self) {
        let fold = |level: &[u32]| -> Vec<u32> {
            level.chunks(1 << FANOUT_BITS).map(|group| group.iter().copied().max().unwrap_or(0)).collect()
        };
        let mut level = fold(&self.end);
        while 1 < level.len() {
            let next = fold(&level);
            self.latest_end.push(level);
            level = next;
        }
        self.latest_end.push(level);
    }

    /// Set the properties of the blocks from before the trace, in the order of the blocks that
    /// [`Self::add_initial`] was given.
    pub(super) fn describe_initial(&mut self, initial: Vec<InitialBlock>) {
        debug_assert_eq!(initial.len(), self.start.partition_point(|&start| start == 0));
        self.initial = initial;
    }

    /// The properties of the blocks from before the trace.
    pub(super) fn initial(&self) -> &[InitialBlock] {
        &self.initial
    }

    /// Set the stacks of live blocks whose events have none, as in recordings with `context="state"`.
    pub(super) fn describe_blocks(&mut self, block_stacks: HashMap<AllocId, StackId>) {
        self.block_stacks = block_stacks;
    }

    /// Number of allocations.
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// True if there is no allocation.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Number of allocations from before the first event; they have the lowest ids.
    pub fn initial_count(&self) -> usize {
        self.initial.len()
    }

    /// First moment at which the allocation is live; [`Moment::START`] if it was there before the first
    /// event.
    #[inline]
    pub fn start(&self, id: AllocId) -> Moment {
        Moment(self.start[id.index()])
    }

    /// First moment at which the allocation is gone; `None` if it survives the trace.
    #[inline]
    pub fn end(&self, id: AllocId) -> Option<Moment> {
        known(self.end[id.index()])
    }

    /// First moment at which the program had given the allocation back; `None` if that is not in the trace.
    #[inline]
    pub fn requested(&self, id: AllocId) -> Option<Moment> {
        known(self.requested[id.index()])
    }

    /// Address of an allocation's first byte.
    #[inline]
    pub fn addr(&self, id: AllocId, events: &EventTable) -> u64 {
        match self.origin(id) {
            Origin::Before => self.initial[id.index()].addr,
            Origin::Event(ix) => events.addr(ix).unwrap_or_default(),
        }
    }

    /// Requested bytes of an allocation.
    #[inline]
    pub fn size(&self, id: AllocId, events: &EventTable) -> Bytes {
        match self.origin(id) {
            Origin::Before => self.initial[id.index()].size,
            Origin::Event(ix) => events.size(ix),
        }
    }

    /// The stack that made an allocation: that of its event, else that of its block at the end. Empty if
    /// neither was recorded.
    #[inline]
    pub fn stack(&self, id: AllocId, events: &EventTable) -> StackId {
        match self.origin(id) {
            Origin::Before => self.initial[id.index()].stack,
            Origin::Event(ix) => match events.stack(ix) {
                StackId::EMPTY if !self.block_stacks.is_empty() => self.block_stack(id),
                stack => stack,
            },
        }
    }

    fn block_stack(&self, id: AllocId) -> StackId {
        self.block_stacks.get(&id).copied().unwrap_or(StackId::EMPTY)
    }

    /// The beginning of an allocation in the recording.
    #[inline]
    pub fn origin(&self, id: AllocId) -> Origin {
        self.start(id).event().map_or(Origin::Before, Origin::Event)
    }

    /// The allocation that an alloc event made; `None` for other events.
    pub fn of_alloc_event(&self, ix: EventIx) -> Option<AllocId> {
        self.start.binary_search(&Moment::after(ix).0).ok().map(|i| AllocId(i as u32))
    }

    /// The first allocation made after a moment.
    pub fn first_after(&self, moment: Moment) -> Option<AllocId> {
        let at = self.start.partition_point(|&start| start <= moment.0);
        (at < self.start.len()).then_some(AllocId(at as u32))
    }

    /// Everything about one allocation.
    pub fn get(&self, id: AllocId, events: &EventTable) -> Allocation {
        let origin = self.origin(id);
        let known_before = match origin {
            Origin::Before => self.initial[id.index()],
            Origin::Event(ix) => InitialBlock {
                addr: events.addr(ix).unwrap_or_default(),
                size: events.size(ix),
                stream: events.stream(ix),
                pool: events.pool(ix),
                stack: self.stack(id, events),
            },
        };
        let InitialBlock { addr, size, stream, pool, stack } = known_before;
        let (start, requested, end) = (self.start(id), self.requested(id), self.end(id));
        Allocation { id, origin, addr, size, stream, pool, stack, start, requested, end }
    }

    /// The allocations that are live at a moment, in allocation order.
    pub fn live_at(&self, moment: Moment) -> Live<'_> {
        self.live_between(moment, moment)
    }

    /// The allocations made after `after` and up to `until`, in allocation order.
    pub fn started_between(
        &self,
        after: Moment,
        until: Moment,
    ) -> impl ExactSizeIterator<Item = AllocId> + use<> {
        let first = self.start.partition_point(|&start| start <= after.0);
        let end = self.start.partition_point(|&start| start <= until.0);
        (first as u32..end as u32).map(AllocId)
    }

    /// The allocations that are live at any moment from `first` to `last`, in allocation order.
    pub fn live_between(&self, first: Moment, last: Moment) -> Live<'_> {
        let until = self.start.partition_point(|&start| start <= last.0);
        Live { lifetimes: self, next: 0, until, after: first.0 }
    }
}

fn known(moment: u32) -> Option<Moment> {
    (moment != NEVER).then_some(Moment(moment))
}

/// Iterator over live allocations in allocation order; see [`Lifetimes::live_at`].
#[derive(Debug, Clone)]
pub struct Live<'a> {
    lifetimes: &'a Lifetimes,
    /// The next allocation to look at.
    next: usize,
    /// The first allocation that starts too late.
    until: usize,
    /// Allocations must end after this moment.
    after: u32,
}

impl Iterator for Live<'_> {
    type Item = AllocId;

    fn next(&mut self) -> Option<AllocId> {
        while self.next < self.until {
            let i = self.next;
            if self.after < self.lifetimes.end[i] {
                self.next += 1;
                return Some(AllocId(i as u32));
            }
            // Skip the largest group that starts here and has ended.
            let mut bits = 0;
            for level in &self.lifetimes.latest_end {
                let wider = bits + FANOUT_BITS;
                if i & ((1 << wider) - 1) != 0 || self.after < level[i >> wider] {
                    break;
                }
                bits = wider;
            }
            self.next = i + (1 << bits);
        }
        None
    }
}
