//! The events of one trace, in columns.

use super::address::AddressTable;
use super::column::{CodedColumn, SizeColumn, TimeColumn};
use super::{Action, AddrId, EventIx, StackId, StrId};

/// The id of a memory pool, as torch writes it: `(0, 0)` is the default pool, anything else a
/// private pool of a graph or a `MemPool`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolKey(pub i64, pub i64);

impl PoolKey {
    /// The default pool.
    pub const DEFAULT: Self = Self(0, 0);

    /// Whether this is a pool of a captured graph or a `MemPool`.
    pub fn is_private(self) -> bool {
        self != Self::DEFAULT
    }
}

/// One event, put together from the columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// What happened.
    pub action: Action,
    /// The address; `None` where the event has none (an `oom`).
    pub addr: Option<u64>,
    /// Bytes: requested for blocks, whole pages for segments.
    pub size: i64,
    /// Wall clock in microseconds since 1970; `None` where it was not recorded.
    pub time_us: Option<i64>,
    /// The stream's number or address; `None` where it was not recorded.
    pub stream: Option<i64>,
    /// The stack that was recorded with the event.
    pub stack: StackId,
    /// The pool; `None` before torch 2.10, which did not write it.
    pub pool: Option<PoolKey>,
    /// `compile_context`: which compiled region was running.
    pub compile_context: Option<StrId>,
    /// `user_metadata`: what the program attached.
    pub user_metadata: Option<StrId>,
    /// `internal_metadata`: what torch attached.
    pub internal_metadata: Option<StrId>,
    /// `category`: what a profile knows the block to be.
    pub category: Option<StrId>,
    /// `forward_frames`: for memory of the backward pass, the forward code it belongs to.
    pub forward_stack: StackId,
    /// `device_free` of an `oom`: bytes that the device still had.
    pub device_free: Option<i64>,
}

impl Event {
    /// An event with what every event has, and nothing else: no time, no stream, no stack.
    pub fn new(action: Action, addr: u64, size: i64) -> Self {
        Self {
            action,
            addr: Some(addr),
            size,
            time_us: None,
            stream: None,
            stack: StackId::EMPTY,
            pool: None,
            compile_context: None,
            user_metadata: None,
            internal_metadata: None,
            category: None,
            forward_stack: StackId::EMPTY,
            device_free: None,
        }
    }
}

const NO_ADDRESS: u64 = u64::MAX;

/// What rarely changes from one event to the next, so that a table holds each different one once.
/// The fields are those of [`Event`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Context {
    /// The stream.
    pub stream: Option<i64>,
    /// The pool.
    pub pool: Option<PoolKey>,
    /// Which compiled region was running.
    pub compile_context: Option<StrId>,
    /// What the program attached.
    pub user_metadata: Option<StrId>,
    /// What torch attached.
    pub internal_metadata: Option<StrId>,
    /// What a profile knows the block to be.
    pub category: Option<StrId>,
    /// For memory of the backward pass, the forward code it belongs to.
    pub forward_stack: StackId,
}

/// Events as they are read, of all traces one after another.
#[derive(Debug, Default)]
pub struct EventTable {
    actions: Vec<u8>,
    addrs: Vec<AddrId>,
    addresses: AddressTable,
    /// The address of the latest event: a free is requested and completed in two events.
    last_addr: Option<(u64, AddrId)>,
    sizes: SizeColumn,
    times: TimeColumn,
    stacks: Vec<StackId>,
    contexts: CodedColumn<Context>,
    /// `device_free` of the few events that have it.
    device_free: Vec<(u32, i64)>,
}

impl EventTable {
    /// Make room for this many events. Room that is not used costs no memory.
    pub fn reserve(&mut self, events: usize) {
        self.actions.reserve(events);
        self.addrs.reserve(events);
        self.sizes.reserve(events);
        self.times.reserve(events);
        self.stacks.reserve(events);
    }

    /// Append an event.
    #[inline]
    pub fn push(&mut self, event: &Event) {
        if let Some(free) = event.device_free {
            self.device_free.push((self.actions.len() as u32, free));
        }
        self.actions.push(event.action.code());
        let addr = self.intern_address(event.addr.unwrap_or(NO_ADDRESS));
        self.addrs.push(addr);
        self.sizes.push(event.size);
        self.times.push(event.time_us);
        self.stacks.push(event.stack);
        self.contexts.push(Context {
            stream: event.stream,
            pool: event.pool,
            compile_context: event.compile_context,
            user_metadata: event.user_metadata,
            internal_metadata: event.internal_metadata,
            category: event.category,
            forward_stack: event.forward_stack,
        });
    }

    /// Bytes of memory that the events take, roughly.
    pub fn held_bytes(&self) -> usize {
        /// Of all columns together, where sizes and times differ from event to event.
        const EVENT_BYTES: usize = 32;
        self.len() * EVENT_BYTES + self.addresses.held_bytes()
    }

    /// Number of events.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// One event with all its fields.
    pub fn get(&self, ix: EventIx) -> Event {
        let row = ix.0;
        let device_free = self.device_free.binary_search_by_key(&row, |&(r, _)| r);
        let context = self.contexts.get(ix.index());
        Event {
            action: self.action(ix),
            addr: self.addr(ix),
            size: self.size(ix),
            time_us: self.time_us(ix),
            stream: context.stream,
            stack: self.stack(ix),
            pool: context.pool,
            compile_context: context.compile_context,
            user_metadata: context.user_metadata,
            internal_metadata: context.internal_metadata,
            category: context.category,
            forward_stack: context.forward_stack,
            device_free: device_free.ok().map(|at| self.device_free[at].1),
        }
    }

    /// What an event did.
    #[inline]
    pub fn action(&self, ix: EventIx) -> Action {
        Action::from_code(self.actions[ix.index()])
    }

    /// The bytes of an event.
    #[inline]
    pub fn size(&self, ix: EventIx) -> i64 {
        self.sizes.get(ix.index())
    }

    /// The stack of an event.
    #[inline]
    pub fn stack(&self, ix: EventIx) -> StackId {
        self.stacks[ix.index()]
    }

    /// The stream of an event.
    #[inline]
    pub fn stream(&self, ix: EventIx) -> Option<i64> {
        self.contexts.get(ix.index()).stream
    }

    /// The pool of an event.
    #[inline]
    pub fn pool(&self, ix: EventIx) -> Option<PoolKey> {
        self.contexts.get(ix.index()).pool
    }

    /// The address of an event.
    #[inline]
    pub fn addr(&self, ix: EventIx) -> Option<u64> {
        let raw = self.addresses.get(self.addr_id(ix));
        (raw != NO_ADDRESS).then_some(raw)
    }

    /// The time of an event.
    #[inline]
    pub fn time_us(&self, ix: EventIx) -> Option<i64> {
        self.times.get(ix.index())
    }

    /// Indices of all events.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = EventIx> + ExactSizeIterator + use<> {
        (0..self.len() as u32).map(EventIx)
    }

    /// First and last recorded time.
    pub fn time_range_us(&self) -> Option<(i64, i64)> {
        let first = self.indices().find_map(|ix| self.time_us(ix))?;
        let last = self.indices().rev().find_map(|ix| self.time_us(ix))?;
        Some((first, last))
    }

    /// The different contexts of the events, in order of appearance.
    pub fn contexts(&self) -> &[Context] {
        self.contexts.distinct()
    }

    /// The context of an event, as an index into [`contexts`](Self::contexts).
    #[inline]
    pub fn context_index(&self, ix: EventIx) -> usize {
        self.contexts.code(ix.index()) as usize
    }

    /// The different streams of the events, possibly several times.
    pub fn distinct_streams(&self) -> impl Iterator<Item = i64> + '_ {
        self.contexts.distinct().iter().filter_map(|context| context.stream)
    }

    /// The different pools of the events, possibly several times.
    pub fn distinct_pools(&self) -> impl Iterator<Item = PoolKey> + '_ {
        self.contexts.distinct().iter().filter_map(|context| context.pool)
    }

    /// The category that a profile gave an event's block.
    #[inline]
    pub fn category(&self, ix: EventIx) -> Option<StrId> {
        self.contexts.get(ix.index()).category
    }

    /// The different categories of the events, possibly several times.
    pub fn distinct_categories(&self) -> impl Iterator<Item = StrId> + '_ {
        self.contexts.distinct().iter().filter_map(|context| context.category)
    }

    /// Number of distinct addresses: ids are below it.
    pub fn address_count(&self) -> usize {
        self.addresses.len()
    }

    /// The id of an event's address. Events without an address share one.
    #[inline]
    pub fn addr_id(&self, ix: EventIx) -> AddrId {
        self.addrs[ix.index()]
    }

    /// The address of an id; the highest one stands for none.
    #[inline]
    pub fn address(&self, id: AddrId) -> u64 {
        self.addresses.get(id)
    }

    /// Give back the room that was reserved and not used.
    pub(super) fn shrink_to_fit(&mut self) {
        self.actions.shrink_to_fit();
        self.addrs.shrink_to_fit();
        self.sizes.shrink_to_fit();
        self.times.shrink_to_fit();
        self.stacks.shrink_to_fit();
    }

    /// The id of an address that need not occur in the trace.
    #[inline]
    pub(super) fn intern_address(&mut self, address: u64) -> AddrId {
        if let Some((last, id)) = self.last_addr
            && last == address
        {
            return id;
        }
        let id = self.addresses.intern(address);
        self.last_addr = Some((address, id));
        id
    }

    /// The events of some ranges as a table of their own. When no others will be asked for, and the
    /// ranges are all there is, nothing is copied.
    pub fn extract(&mut self, ranges: &[std::ops::Range<u32>], is_last: bool) -> Self {
        if let [range] = ranges
            && is_last
            && range.start == 0
            && range.end as usize == self.len()
        {
            return std::mem::take(self);
        }
        let mut out = Self::default();
        for range in ranges {
            for row in range.clone() {
                out.push(&self.get(EventIx(row)));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(addr: u64, size: i64) -> Event {
        Event {
            time_us: Some(size * 10),
            stream: Some(0),
            stack: StackId(3),
            ..Event::new(Action::Alloc, addr, size)
        }
    }

    #[test]
    fn what_is_pushed_is_read_back() {
        let mut table = EventTable::default();
        let oom =
            Event { action: Action::Oom, addr: None, device_free: Some(77), stream: Some(5), ..event(0, 9) };
        let written = [event(1 << 63, 1), event(512, 2), oom];
        for e in &written {
            table.push(e);
        }
        let read: Vec<Event> = table.indices().map(|ix| table.get(ix)).collect();
        assert_eq!(read, written);
        assert_eq!(table.time_range_us(), Some((10, 90)));
    }

    #[test]
    fn extracting_ranges_keeps_their_rows() {
        let mut table = EventTable::default();
        for i in 0..6 {
            table.push(&event(i, i as i64));
        }
        let part = table.extract(&[1..2, 4..6], false);
        let sizes: Vec<i64> = part.indices().map(|ix| part.size(ix)).collect();
        assert_eq!(sizes, [1, 4, 5]);
        let all = 0..6;
        assert_eq!(table.extract(std::slice::from_ref(&all), false).len(), 6);
        assert_eq!(table.extract(std::slice::from_ref(&all), true).len(), 6);
        assert!(table.is_empty());
    }
}
