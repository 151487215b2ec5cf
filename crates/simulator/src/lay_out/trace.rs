//! The trace that torch would have recorded.

use super::live::{Live, Moved, Stacks};
use crate::requests::{PoolStreams, SegmentEvent};
use oomscope_model::{Action, AddrId, Bytes, Event, EventIx, EventTable, Recording, StackId};
use std::collections::{BTreeMap, BTreeSet};

/// A trace that is being written.
pub(super) struct Trace<'a> {
    recording: &'a Recording,
    pool_streams: &'a PoolStreams,
    /// Whether events say their pool: torch writes it from 2.10 on.
    has_pools: bool,
    events: EventTable,
    /// What each slot of the program holds.
    live: BTreeMap<u32, Held>,
    /// The slots whose memory was given back and is still used by a stream.
    awaiting: BTreeSet<u32>,
    /// The stacks of the requests for segments and pages, by address.
    of_segments: BTreeMap<u64, StackId>,
}

/// An allocation.
#[derive(Clone, Copy)]
struct Held {
    live: Live,
    /// The event that made it.
    made: EventIx,
}

impl<'a> Trace<'a> {
    pub(super) fn new(recording: &'a Recording, pool_streams: &'a PoolStreams) -> Self {
        let has_pools = recording.events.distinct_pools().next().is_some();
        Self {
            recording,
            pool_streams,
            has_pools,
            events: EventTable::default(),
            live: BTreeMap::new(),
            awaiting: BTreeSet::new(),
            of_segments: BTreeMap::new(),
        }
    }

    /// Write what was done to segments for a request. Torch says it with the stack, the time and the texts of the request.
    pub(super) fn segments(&mut self, request: EventIx, done: &[SegmentEvent]) {
        for segment in done {
            let of_request = self.recording.events.get(request);
            let list = segment.pool_stream * 2;
            let pool = self.has_pools.then(|| self.pool_streams.pool_of_list(list).key);
            self.events.push(&Event {
                action: segment.action.action(),
                addr: Some(segment.addr),
                size: Bytes::of_size(segment.size),
                stream: Some(self.pool_streams.stream_of_list(list)),
                pool,
                category: None,
                forward_stack: StackId::EMPTY,
                device_free: None,
                ..of_request
            });
            if !segment.action.gives_back() {
                self.of_segments.insert(segment.addr, of_request.stack);
            }
        }
    }

    /// A slot holds memory from an event on. Returns what it held before.
    pub(super) fn place(&mut self, slot: u32, live: Live, made: EventIx) -> Option<Live> {
        self.live.insert(slot, Held { live, made }).map(|held| held.live)
    }

    /// Write an event of the requests with the address that its memory has. A free of what is not held is left out.
    pub(super) fn event(&mut self, ix: EventIx) {
        let event = self.recording.events.get(ix);
        let slot = self.recording.events.addr_id(ix).0;
        let held = self.live.get(&slot).copied();
        match (event.action, held) {
            (Action::Alloc, Some(held)) => self.push_of(&event, held.live),
            (Action::FreeRequested, Some(held)) => {
                if self.awaiting.insert(slot) {
                    self.push_of(&event, held.live);
                }
            }
            (Action::FreeCompleted, Some(held)) => {
                self.forget(slot);
                self.push_of(&event, held.live);
            }
            (Action::Alloc | Action::FreeRequested | Action::FreeCompleted, None) => {}
            (_, Some(held)) => self.events.push(&Event { addr: Some(held.live.addr), ..event }),
            (_, None) => self.events.push(&event),
        }
    }

    /// Write that no stream uses any more what was given back, because the program empties the cache at an event.
    pub(super) fn complete_awaiting(&mut self, flush: EventIx) {
        let flush = self.recording.events.get(flush);
        for slot in std::mem::take(&mut self.awaiting) {
            let Some(held) = self.live.remove(&slot) else { continue };
            let made = self.recording.events.get(held.made);
            let of_block =
                Event { action: Action::FreeCompleted, stream: made.stream, pool: made.pool, ..flush };
            self.push_of(&of_block, held.live);
        }
    }

    /// What lives at the end: where it was before, and the stacks.
    pub(super) fn end(self) -> (EventTable, Moved, Stacks) {
        let events = &self.recording.events;
        let moved = self.live.iter().map(|(&slot, held)| (events.address(AddrId(slot)), held.live));
        let of_blocks = self.live.values().map(|held| (held.live.addr, events.stack(held.made)));
        let stacks = Stacks { of_blocks: of_blocks.collect(), of_segments: self.of_segments };
        (self.events, Moved::of(moved), stacks)
    }

    fn forget(&mut self, slot: u32) {
        self.live.remove(&slot);
        self.awaiting.remove(&slot);
    }

    /// An event about memory that is held.
    fn push_of(&mut self, event: &Event, live: Live) {
        self.events.push(&Event { addr: Some(live.addr), size: Bytes::of_size(live.size), ..*event });
    }
}
