//! The events of one trace, in columns.

use super::address::AddressTable;
use super::column::{CodedColumn, SizeColumn, TimeColumn};
use super::{Action, AddrId, Bytes, EventIx, StackId, StrId};

/// The id of a memory pool, as torch writes it: `(0, 0)` is the default pool, anything else a
/// private pool of a graph or a `MemPool`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolKey(pub i64, pub i64);

impl PoolKey {
    /// The default pool.
    pub const DEFAULT: Self = Self(0, 0);

    /// True if this is a pool of a captured graph or a `MemPool`.
    pub fn is_private(self) -> bool {
        self != Self::DEFAULT
    }
}

/// One event, put together from the columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// What happened.
    pub action: Action,
    /// The address; `None` for an event without one, such as an `oom`.
    pub addr: Option<u64>,
    /// Bytes: as requested for blocks, whole segments or mapped pages for segment events.
    pub size: Bytes,
    /// Wall clock in microseconds since 1970; `None` where it was not recorded.
    pub time_us: Option<i64>,
    /// The stream's number or address; `None` where it was not recorded.
    pub stream: Option<i64>,
    /// The stack that was recorded with the event.
    pub stack: StackId,
    /// The pool; `None` before torch 2.10, which did not write it.
    pub pool: Option<PoolKey>,
    /// `compile_context`: the compiled region that was running.
    pub compile_context: Option<StrId>,
    /// `user_metadata`: text that the program attached.
    pub user_metadata: Option<StrId>,
    /// `internal_metadata`: text that torch attached.
    pub internal_metadata: Option<StrId>,
    /// `category`: the category that a profiler gave the block.
    pub category: Option<StrId>,
    /// `forward_frames`: the forward code that memory of a backward pass belongs to.
    pub forward_stack: StackId,
    /// `device_free` of an `oom`: bytes that the device still had.
    pub device_free: Option<Bytes>,
}

impl Event {
    /// An event with an action, an address and a size only: no time, no stream, no stack.
    pub fn new(action: Action, addr: u64, size: impl Into<Bytes>) -> Self {
        Self {
            action,
            addr: Some(addr),
            size: size.into(),
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

/// Stands for a missing address in [`AddressTable`]; no allocation starts at the last byte.
const NO_ADDRESS: u64 = u64::MAX;

/// The fields of an [`Event`] that rarely change from one event to the next. A table holds each different
/// combination once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Context {
    /// The stream.
    pub stream: Option<i64>,
    /// The pool.
    pub pool: Option<PoolKey>,
    /// The compiled region that was running.
    pub compile_context: Option<StrId>,
    /// Text that the program attached.
    pub user_metadata: Option<StrId>,
    /// Text that torch attached.
    pub internal_metadata: Option<StrId>,
    /// The category that a profiler gave the block.
    pub category: Option<StrId>,
    /// The forward code that memory of a backward pass belongs to.
    pub forward_stack: StackId,
}

/// Events in columns, in the order in which they happened. While a file is read, one table holds the
/// traces of all devices one after another.
#[derive(Debug, Default, Clone)]
pub struct EventTable {
    actions: Vec<u8>,
    addrs: Vec<AddrId>,
    addresses: AddressTable,
    /// The address of the last event: a free is mostly two events in a row, requested and completed.
    last_addr: Option<(u64, AddrId)>,
    sizes: SizeColumn,
    times: TimeColumn,
    stacks: Vec<StackId>,
    contexts: CodedColumn<Context>,
    /// Row and `device_free` of the few events that have it, by row.
    device_free: Vec<(u32, Bytes)>,
}

impl EventTable {
    /// Make room for this many events. Room that is not used is given back in the end.
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
        /// Bytes of one event in all columns, rounded up: 17 with a narrow time, 29 with a wide one, and
        /// up to 4 for the number of its context.
        const EVENT_BYTES: usize = 32;
        let rare = size_of_val(&*self.device_free) + self.sizes.large_bytes() + self.contexts.values_bytes();
        self.len() * EVENT_BYTES + self.addresses.held_bytes() + rare
    }

    /// Number of events.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// True if there is no event.
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

    /// The action of an event.
    #[inline]
    pub fn action(&self, ix: EventIx) -> Action {
        Action::from_code(self.actions[ix.index()])
    }

    /// The size of an event in bytes; see [`Event::size`].
    #[inline]
    pub fn size(&self, ix: EventIx) -> Bytes {
        self.sizes.get(ix.index())
    }

    /// The stack of an event; [`StackId::EMPTY`] if none was recorded.
    #[inline]
    pub fn stack(&self, ix: EventIx) -> StackId {
        self.stacks[ix.index()]
    }

    /// The stream of an event; `None` if it was not recorded.
    #[inline]
    pub fn stream(&self, ix: EventIx) -> Option<i64> {
        self.contexts.get(ix.index()).stream
    }

    /// The pool of an event; `None` if it was not recorded.
    #[inline]
    pub fn pool(&self, ix: EventIx) -> Option<PoolKey> {
        self.contexts.get(ix.index()).pool
    }

    /// The address of an event; `None` for an event without one.
    #[inline]
    pub fn addr(&self, ix: EventIx) -> Option<u64> {
        let raw = self.addresses.get(self.addr_id(ix));
        (raw != NO_ADDRESS).then_some(raw)
    }

    /// The time of an event in microseconds since 1970; `None` if it was not recorded.
    #[inline]
    pub fn time_us(&self, ix: EventIx) -> Option<i64> {
        self.times.get(ix.index())
    }

    /// Indices of all events.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = EventIx> + ExactSizeIterator + use<> {
        (0..self.len() as u32).map(EventIx)
    }

    /// The first and the last recorded time, in microseconds since 1970.
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

    /// The streams of the events, once for each context.
    pub fn distinct_streams(&self) -> impl Iterator<Item = i64> + '_ {
        self.contexts.distinct().iter().filter_map(|context| context.stream)
    }

    /// The pools of the events, once for each context.
    pub fn distinct_pools(&self) -> impl Iterator<Item = PoolKey> + '_ {
        self.contexts.distinct().iter().filter_map(|context| context.pool)
    }

    /// The category that a profiler gave an event's block.
    #[inline]
    pub fn category(&self, ix: EventIx) -> Option<StrId> {
        self.contexts.get(ix.index()).category
    }

    /// The categories of the events, once for each context.
    pub fn distinct_categories(&self) -> impl Iterator<Item = StrId> + '_ {
        self.contexts.distinct().iter().filter_map(|context| context.category)
    }

    /// Number of distinct addresses; every [`AddrId`] is below it.
    pub fn address_count(&self) -> usize {
        self.addresses.len()
    }

    /// The id of an event's address. Events without an address share one.
    #[inline]
    pub fn addr_id(&self, ix: EventIx) -> AddrId {
        self.addrs[ix.index()]
    }

    /// The address of an id; `u64::MAX` stands for a missing address.
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

    /// The id of an address, which need not occur in the trace.
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

    /// Append all events of another table.
    pub fn append(&mut self, other: &Self) {
        let first = self.actions.len() as u32;
        self.actions.extend_from_slice(&other.actions);
        let addrs: Vec<AddrId> =
            other.addresses.all().iter().map(|&address| self.addresses.intern(address)).collect();
        self.addrs.extend(other.addrs.iter().map(|id| addrs[id.index()]));
        self.sizes.append(&other.sizes);
        self.times.append(&other.times);
        self.stacks.extend_from_slice(&other.stacks);
        self.contexts.append(&other.contexts);
        self.device_free.extend(other.device_free.iter().map(|&(row, free)| (first + row, free)));
    }

    /// Replace actions. `None` ends it, and leaves the table in parts as it was.
    pub fn rename_actions(&mut self, mut renamed: impl FnMut(Action) -> Option<Action>) -> Option<()> {
        let mut codes = [None; 256];
        for code in &mut self.actions {
            let known = &mut codes[usize::from(*code)];
            if known.is_none() {
                *known = Some(renamed(Action::from_code(*code))?.code());
            }
            *code = known.unwrap_or(*code);
        }
        Some(())
    }

    /// Replace stacks. `None` ends it, and leaves the table in parts as it was.
    pub fn rename_stacks(&mut self, renamed: impl Fn(StackId) -> Option<StackId>) -> Option<()> {
        for stack in &mut self.stacks {
            *stack = renamed(*stack)?;
        }
        Some(())
    }

    /// Replace contexts. `None` ends it, and leaves the table as it was.
    pub fn rename_contexts(&mut self, renamed: impl Fn(Context) -> Option<Context>) -> Option<()> {
        self.contexts.rename(renamed)
    }

    /// The first events as a table of their own. Ids of addresses stay the same, even those of later events.
    pub(super) fn first(&self, count: usize) -> Self {
        let mut out = self.clone();
        out.actions.truncate(count);
        out.addrs.truncate(count);
        out.sizes.truncate(count);
        out.times.truncate(count);
        out.stacks.truncate(count);
        out.contexts.truncate(count);
        out.device_free.retain(|&(row, _)| (row as usize) < count);
        out
    }

    /// Forget all events, and keep the room that they had.
    pub fn clear(&mut self) {
        let Self { actions, addrs, addresses, last_addr, sizes, times, stacks, contexts, device_free } = self;
        actions.clear();
        addrs.clear();
        addresses.clear();
        *last_addr = None;
        sizes.truncate(0);
        times.clear();
        stacks.clear();
        contexts.truncate(0);
        device_free.clear();
    }

    /// The events of some ranges as a table of their own. Nothing is copied if they are the whole table and
    /// `is_last` says that no others will be asked for: then this table is left empty.
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
        let oom = Event {
            action: Action::Oom,
            addr: None,
            device_free: Some(Bytes(77)),
            stream: Some(5),
            ..event(0, 9)
        };
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
        let sizes: Vec<Bytes> = part.indices().map(|ix| part.size(ix)).collect();
        assert_eq!(sizes, [1, 4, 5]);
        let all = 0..6;
        assert_eq!(table.extract(std::slice::from_ref(&all), false).len(), 6);
        assert_eq!(table.extract(std::slice::from_ref(&all), true).len(), 6);
        assert!(table.is_empty());
    }
}
