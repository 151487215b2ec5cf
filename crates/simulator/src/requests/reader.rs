//! Reads requests from a trace, and decides which segment events the program caused and which its requests.

use super::pool_streams::{PoolIx, PoolStreams};
use super::pools_by_address::PoolsByAddress;
use super::request::{Op, Request, Scope};
use super::segment_events::{Cause, SegmentAction, SegmentEvent};
use crate::settings::clamped;
use oomscope_model::{Action, EventIx, EventTable, Moment, PoolKey, Timeline};

/// The requests of a trace whose segment events are `segments`, in order. Adds the pools that only
/// addresses show to `pool_streams`.
pub(super) fn read(
    timeline: &Timeline,
    segments: &[SegmentEvent],
    pool_stream_of_context: Vec<u32>,
    pool_streams: &mut PoolStreams,
) -> Vec<Request> {
    let events = &timeline.events;
    let mut reader = Reader {
        events,
        last_use: last_uses(events, &pool_stream_of_context, pool_streams),
        pool_stream_of_context,
        ranges: PoolsByAddress::new(timeline),
        segments,
        seen: 0,
        group: 0,
        out: Vec::new(),
        pool_streams,
    };
    events.indices().for_each(|ix| reader.event(ix));
    reader.flush_group(events.len() as u32);
    reader.out
}

/// The last event at which each pool is asked for a block; one entry where no event names a private pool.
fn last_uses(events: &EventTable, pool_stream_of_context: &[u32], pool_streams: &PoolStreams) -> Vec<u32> {
    let mut last_use = vec![0; pool_streams.pools().len()];
    if last_use.len() == 1 {
        return last_use;
    }
    for ix in events.indices().filter(|&ix| events.action(ix) == Action::Alloc) {
        let pool_stream = pool_stream_of_context[events.context_index(ix)];
        last_use[pool_streams.pool_ix_of_list(pool_stream * 2).index()] = ix.0;
    }
    last_use
}

/// A trace that is being read.
///
/// Segment events come before the event of the request that led to them. Those that no request has claimed yet are the
/// *group*: `segments[group..seen]`.
struct Reader<'a> {
    events: &'a EventTable,
    /// The pair of pool and stream of each row of [`EventTable::contexts`].
    pool_stream_of_context: Vec<u32>,
    ranges: Option<PoolsByAddress<'a>>,
    segments: &'a [SegmentEvent],
    /// Number of segment events so far.
    seen: usize,
    /// The first of them that belongs to no request yet.
    group: usize,
    out: Vec<Request>,
    pool_streams: &'a mut PoolStreams,
    /// The last event at which each pool is asked for a block, where events name pools.
    last_use: Vec<u32>,
}

impl Reader<'_> {
    fn push(&mut self, ix: EventIx, op: Op) {
        self.out.push(Request { event: ix.0, op });
    }

    fn event(&mut self, ix: EventIx) {
        let events = self.events;
        match events.action(ix) {
            Action::Alloc => {
                self.close_group(ix);
                let pool_stream = self.pool_stream(ix);
                let op = Op::Alloc {
                    slot: events.addr_id(ix).0,
                    pool_stream,
                    requested: clamped(events.size(ix)),
                };
                self.push(ix, op);
            }
            Action::Oom => {
                if self.group == self.seen {
                    self.doubt_completions(ix.0);
                }
                self.close_group(ix);
                let pool_stream = self.pool_stream_of_context[events.context_index(ix)];
                self.push(ix, Op::Oom { pool_stream, requested: clamped(events.size(ix)) });
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

    /// The pool and stream of a request. Before torch 2.10, events do not say the pool, but segments do.
    fn pool_stream(&mut self, ix: EventIx) -> u32 {
        let pool_stream = self.pool_stream_of_context[self.events.context_index(ix)];
        let Some(ranges) = &self.ranges else { return pool_stream };
        let event = self.events.get(ix);
        if event.pool.is_some() {
            return pool_stream;
        }
        let pool = ranges.pool_at(event.addr.unwrap_or_default()).unwrap_or(PoolKey::DEFAULT);
        if pool.is_private() { self.pool_streams.add(pool, event.stream.unwrap_or(0)) } else { pool_stream }
    }

    /// Decide on the group before a free. If the program gave its segments back, nothing else explains them. Segment
    /// events of a request stay in the group: a request that waits for streams completes frees on its way.
    fn before_free(&mut self, ix: EventIx) {
        let group = &self.segments[self.group..self.seen];
        let is_whole = group.iter().all(|event| event.action.gives_back() && event.cause != Cause::Request);
        if !group.is_empty() && is_whole {
            self.flush_group(ix.0);
        }
    }

    /// Decide which segment events of the group were not the doing of the request at `ix`.
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
        // Events are in order, so the last one is enough to look at.
        debug_assert!(self.segments[..self.seen].last().is_none_or(|event| event.event < ix.0));
        self.group = self.seen;
    }

    /// A request emptied the cache from `event` on. It may have waited for the blocks whose streams were done right
    /// before.
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

    /// Decide that the program itself gave the group's segments back, since no request comes before `event`.
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

    /// Note the private pools whose memory was given back: nobody will ask them again.
    fn note_freed_pools(&mut self, from: usize, to: usize) {
        let event = self.segments[from].event;
        for pool in self.pools_given_back(from, to) {
            // A pool that is asked again only gave back blocks that were too large to be split.
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
        self.pool_streams.pool(recorded.or_else(known).unwrap_or(PoolKey::DEFAULT))
    }
}
