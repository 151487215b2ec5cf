//! What the program asked the allocator for: the part of a trace that stays the same under other
//! settings.

use super::lanes::{Lanes, PoolIx};
use super::rounding::{MAX_REQUEST_BYTES, clamped};
use super::segment_events::{self, Cause, SegmentAction, SegmentEvent};
use super::start::{self, Start};
use super::{Settings, allocator::Scope};
use crate::model::{
    Action, Context, DeviceId, EventIx, EventTable, Moment, PoolKey, ReservedRange, Snapshot, Timeline,
};
use std::collections::BTreeMap;

/// One thing that the program did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    /// It asked for a block.
    Alloc { slot: u32, lane: u32, requested: u64 },
    /// It gave a block back, and nothing else used it.
    Free { slot: u32 },
    /// It gave a block back that another stream still used.
    FreeRequested { slot: u32 },
    /// That stream was done.
    FreeCompleted { slot: u32 },
    /// The same, but only because the request that follows waited for all streams.
    FreeForced { slot: u32 },
    /// The same; whether the request that follows waited for it, the recording does not say.
    MaybeForced { slot: u32 },
    /// It emptied the cache.
    Flush(Scope),
    /// It emptied the cache, or the request that follows needed it; the recording does not say.
    MaybeFlush,
    /// Nobody asks a private pool any more.
    PoolFreed(PoolIx),
    /// It asked for a block and got none.
    Oom { lane: u32, requested: u64 },
}

/// An [`Op`] and the event that recorded it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) event: u32,
    pub(super) op: Op,
}

/// Everything that a program asked for on one device, and what was there before.
#[derive(Debug, Clone)]
pub(super) struct Requests {
    pub(super) all: Vec<Request>,
    pub(super) lanes: Lanes,
    /// Places that the program keeps blocks in.
    pub(super) slots: usize,
    pub(super) start: Start,
    /// What the recorded allocator did to segments.
    pub(super) segments: Vec<SegmentEvent>,
    /// Events of the trace.
    pub(super) events: usize,
    /// The most bytes that the recording reserved.
    pub(super) recorded_peak: u64,
}

impl Requests {
    /// Read them from a device's trace. Pinned host memory has another allocator and gives none.
    pub(super) fn of(snapshot: &Snapshot, timeline: &Timeline, settings: &Settings) -> Self {
        let events = &timeline.events;
        let mut lanes = Lanes::default();
        lanes.add(PoolKey::DEFAULT, 0);
        let mut lane_of = |context: &Context| {
            lanes.add(context.pool.unwrap_or(PoolKey::DEFAULT), context.stream.unwrap_or(0))
        };
        let lane_of_context: Vec<u32> = events.contexts().iter().map(&mut lane_of).collect();
        let is_host = timeline.device == DeviceId::HOST;
        let segments = if is_host { Vec::new() } else { segment_events::recorded(events, &lane_of_context) };
        let mut reader = Reader {
            events,
            lane_of_context,
            ranges: PoolsByAddress::new(timeline),
            segments: &segments,
            seen: 0,
            group: 0,
            out: Vec::new(),
            lanes,
            last_use: Vec::new(),
        };
        reader.read_last_uses();
        if !is_host {
            events.indices().for_each(|ix| reader.event(ix));
            reader.flush_group(events.len() as u32);
        }
        let Reader { out: all, mut lanes, .. } = reader;
        let start = start::find(snapshot, timeline, settings, &mut lanes);
        start::find_unsplit_pools(timeline, settings, &mut lanes);
        let slots = events.address_count();
        let recorded_peak = timeline.reserved.peak().1.max(0).unsigned_abs();
        Self { all, lanes, slots, start, segments, events: events.len(), recorded_peak }
    }
}

impl Requests {
    /// The same program with other sizes: each request times a factor. What becomes nothing is not asked
    /// for at all.
    pub(super) fn scaled(&self, factor: impl Fn(EventIx) -> f64) -> Self {
        let change = |request: &Request| {
            let by = |requested: u64| {
                let scaled = requested as f64 * factor(EventIx(request.event)).max(0.0);
                // Whole bytes; conversion saturates.
                (scaled.ceil() as u64).min(MAX_REQUEST_BYTES)
            };
            let (op, size) = match request.op {
                Op::Alloc { slot, lane, requested } => {
                    let requested = by(requested);
                    (Op::Alloc { slot, lane, requested }, requested)
                }
                Op::Oom { lane, requested } => {
                    let requested = by(requested);
                    (Op::Oom { lane, requested }, requested)
                }
                op => (op, 1),
            };
            (size != 0).then_some(Request { op, ..*request })
        };
        Self { all: self.all.iter().filter_map(change).collect(), ..self.clone() }
    }
}

struct Reader<'a> {
    events: &'a EventTable,
    lane_of_context: Vec<u32>,
    ranges: Option<PoolsByAddress<'a>>,
    segments: &'a [SegmentEvent],
    /// Segment events so far.
    seen: usize,
    /// The first of them that belongs to no request yet.
    group: usize,
    out: Vec<Request>,
    lanes: Lanes,
    /// The last event of each pool that asks for a block, where events name pools.
    last_use: Vec<u32>,
}

impl Reader<'_> {
    fn read_last_uses(&mut self) {
        self.last_use = vec![0; self.lanes.pools().len()];
        if self.last_use.len() == 1 {
            return;
        }
        for ix in self.events.indices().filter(|&ix| self.events.action(ix) == Action::Alloc) {
            let lane = self.lane_of_context[self.events.context_index(ix)];
            self.last_use[self.lanes.pool_ix_of_list(lane * 2).index()] = ix.0;
        }
    }

    fn push(&mut self, ix: EventIx, op: Op) {
        self.out.push(Request { event: ix.0, op });
    }

    fn event(&mut self, ix: EventIx) {
        let events = self.events;
        match events.action(ix) {
            Action::Alloc => {
                self.close_group(ix);
                let lane = self.lane(ix);
                let op = Op::Alloc { slot: events.addr_id(ix).0, lane, requested: clamped(events.size(ix)) };
                self.push(ix, op);
            }
            Action::Oom => {
                if self.group == self.seen {
                    self.doubt_completions(ix.0);
                }
                self.close_group(ix);
                let lane = self.lane_of_context[events.context_index(ix)];
                self.push(ix, Op::Oom { lane, requested: clamped(events.size(ix)) });
            }
            Action::FreeRequested => {
                self.before_free(ix);
                self.push(ix, Op::FreeRequested { slot: events.addr_id(ix).0 });
            }
            Action::FreeCompleted => {
                self.before_free(ix);
                self.free_completed(ix);
            }
            action => {
                if SegmentAction::of(action).is_some() {
                    self.seen += 1;
                    if let Some(ranges) = &mut self.ranges {
                        ranges.go_to(Moment::after(ix));
                    }
                }
            }
        }
    }

    fn free_completed(&mut self, ix: EventIx) {
        let slot = self.events.addr_id(ix).0;
        match self.out.last_mut() {
            Some(last) if last.op == (Op::FreeRequested { slot }) && last.event + 1 == ix.0 => {
                last.op = Op::Free { slot };
            }
            _ => {
                let is_within = self.group < self.seen;
                self.push(ix, if is_within { Op::FreeForced { slot } } else { Op::FreeCompleted { slot } });
            }
        }
    }

    /// The lane of a request. Before torch 2.10, events do not say the pool, but segments do.
    fn lane(&mut self, ix: EventIx) -> u32 {
        let lane = self.lane_of_context[self.events.context_index(ix)];
        let Some(ranges) = &self.ranges else { return lane };
        let event = self.events.get(ix);
        if event.pool.is_some() {
            return lane;
        }
        let pool = ranges.pool_at(event.addr.unwrap_or_default()).unwrap_or(PoolKey::DEFAULT);
        if pool.is_private() { self.lanes.add(pool, event.stream.unwrap_or(0)) } else { lane }
    }

    /// A free comes while segment events belong to no request yet. Those that a request made wait
    /// for it: it frees blocks on its way.
    fn before_free(&mut self, ix: EventIx) {
        let group = &self.segments[self.group..self.seen];
        let is_whole = group.iter().all(|event| event.action.gives_back() && event.cause != Cause::Request);
        if !group.is_empty() && is_whole {
            self.flush_group(ix.0);
        }
    }

    /// A request comes; what of the segment events before it was not its own doing?
    fn close_group(&mut self, ix: EventIx) {
        let group = &self.segments[self.group..self.seen];
        let lead = group.iter().take_while(|event| event.action.gives_back());
        let cause = group.first().map_or(Cause::Request, |first| first.cause);
        let same = lead.take_while(|event| event.cause == cause).count();
        if same != 0 {
            match cause {
                Cause::Program => self.flush(self.group, self.group + same),
                Cause::Unknown => {
                    let event = self.segments[self.group].event;
                    self.note_freed_pools(self.group, self.group + same);
                    self.out.push(Request { event, op: Op::MaybeFlush });
                }
                Cause::Request => {
                    self.doubt_completions(self.segments[self.group].event);
                    self.note_freed_pools(self.group, self.seen);
                }
            }
        }
        debug_assert!(self.segments[..self.seen].iter().all(|event| event.event < ix.0));
        self.group = self.seen;
    }

    /// A request emptied the cache from `event` on. Blocks whose streams were done right before that
    /// may have been waited for.
    fn doubt_completions(&mut self, event: u32) {
        let last = self.out.iter().rposition(|request| request.event < event).map_or(0, |last| last + 1);
        let mut expected = event;
        for request in self.out[..last].iter_mut().rev() {
            let Op::FreeCompleted { slot } = request.op else { break };
            if request.event + 1 != expected {
                break;
            }
            request.op = Op::MaybeForced { slot };
            expected = request.event;
        }
    }

    /// Nothing else comes before `event`, so the program itself gave the segments back.
    fn flush_group(&mut self, event: u32) {
        let group = &self.segments[self.group..self.seen];
        if group.iter().any(|of| of.action.gives_back() && of.event < event) {
            self.flush(self.group, self.seen);
            self.group = self.seen;
        }
    }

    /// The program emptied the cache.
    fn flush(&mut self, from: usize, to: usize) {
        let event = self.segments[from].event;
        let pools = self.pools_given_back(from, to);
        let scope = match pools[..] {
            [pool] if pool != PoolIx::DEFAULT => Scope::Pool(pool),
            _ => {
                self.note_freed_pools(from, to);
                Scope::Everything
            }
        };
        self.out.push(Request { event, op: Op::Flush(scope) });
    }

    /// Private pools are only given back when nobody will ask them again.
    fn note_freed_pools(&mut self, from: usize, to: usize) {
        let event = self.segments[from].event;
        for pool in self.pools_given_back(from, to) {
            // A pool that is asked again gave back what was too large to be split.
            let is_asked_again = self.last_use.get(pool.index()).is_some_and(|&last| event < last);
            if pool != PoolIx::DEFAULT && !is_asked_again {
                self.out.push(Request { event, op: Op::PoolFreed(pool) });
            }
        }
    }

    fn pools_given_back(&self, from: usize, to: usize) -> Vec<PoolIx> {
        let gone = self.segments[from..to].iter().filter(|event| event.action.gives_back());
        let mut pools: Vec<PoolIx> = gone.filter_map(|event| self.pool_of(event)).collect();
        pools.sort_unstable();
        pools.dedup();
        pools
    }

    fn pool_of(&self, event: &SegmentEvent) -> Option<PoolIx> {
        let recorded = self.events.pool(EventIx(event.event));
        let known = || self.ranges.as_ref().and_then(|ranges| ranges.pool_at(event.addr));
        self.lanes.pool(recorded.or_else(known).unwrap_or(PoolKey::DEFAULT))
    }
}

/// The pool of every reserved range that is there, for versions that do not write it with events.
struct PoolsByAddress<'a> {
    /// Ranges in the order in which they come.
    coming: &'a [ReservedRange],
    next: usize,
    /// Past end and pool by address; what is gone stays until something else comes there.
    present: BTreeMap<u64, (u64, PoolKey)>,
}

impl<'a> PoolsByAddress<'a> {
    /// `None` where events say it themselves, or where there is only one pool.
    fn new(timeline: &'a Timeline) -> Option<Self> {
        let all = timeline.ranges.all();
        let is_needed = timeline.events.contexts().iter().any(|context| context.pool.is_none())
            && all.iter().any(|range| range.pool.is_some_and(PoolKey::is_private));
        let mut out = Self { coming: all, next: 0, present: BTreeMap::new() };
        out.go_to(Moment::START);
        is_needed.then_some(out)
    }

    /// Let the ranges come that are there at a moment.
    fn go_to(&mut self, moment: Moment) {
        while let Some(range) = self.coming.get(self.next).filter(|range| range.start <= moment) {
            self.present.insert(range.addr, (range.past_end(), range.pool.unwrap_or(PoolKey::DEFAULT)));
            self.next += 1;
        }
    }

    fn pool_at(&self, addr: u64) -> Option<PoolKey> {
        let (_, &(past_end, pool)) = self.present.range(..=addr).next_back()?;
        (addr < past_end).then_some(pool)
    }
}
