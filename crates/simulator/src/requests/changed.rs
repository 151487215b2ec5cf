//! The requests of a changed program, made one by one from the recorded ones, so that many changes can be simulated at once.

use super::initial_state::{InitialSegment, InitialState};
use super::request::{Op, Request};
use super::{InitialBlock, Requests};
use crate::program::{Point, Program, Row};
use crate::settings::{MAX_REQUEST_BYTES, Settings, block_bytes};
use oomscope_model::{AllocId, EventIx, Moment, Timeline};
use std::sync::OnceLock;

/// Stands for a slot that holds nothing.
const NOTHING: u32 = u32::MAX;

impl Requests {
    /// The state that a changed program starts from, and all else of these requests but the requests themselves. Each
    /// allocation of the program has a slot of its own.
    pub(crate) fn frame_of(&self, program: &Program<'_>, settings: &Settings) -> Self {
        Self {
            all: Vec::new(),
            pool_streams: self.pool_streams.clone(),
            slots: program.recorded_count() + program.added.len(),
            initial: changed_state(&self.initial, program, settings),
            segments: self.segments.clone(),
            ..*self
        }
    }

    /// The requests of a changed program, in order. `pools` has the pair of pool and stream of each allocation, once it is known.
    pub(crate) fn of_program<'a>(
        &'a self,
        program: &'a Program<'a>,
        pools: &OnceLock<Vec<u32>>,
    ) -> ChangedRequests<'a> {
        let mut holders = vec![NOTHING; self.slots];
        for block in &self.initial.blocks {
            if let Some(holder) = holders.get_mut(block.slot as usize) {
                *holder = block.id.0;
            }
        }
        ChangedRequests {
            program,
            recorded: self.all.iter(),
            waiting: None,
            unrecorded: None,
            next_id: program.timeline().lifetimes.initial_count() as u32,
            holders,
            moved: moved_requests(self, program, pools),
            next_moved: 0,
            next_failed: 0,
        }
    }
}

/// The requests that a changed program makes at other points than the recorded one, in order.
fn moved_requests(
    requests: &Requests,
    program: &Program<'_>,
    pools: &OnceLock<Vec<u32>>,
) -> Vec<(Point, Request)> {
    if program.added.is_empty() && program.moved().next().is_none() {
        return Vec::new();
    }
    let mut out = Moved::default();
    let pools = pools.get_or_init(|| pools_of(requests, program.timeline()));
    let initial = program.timeline().lifetimes.initial_count();
    let pool_of = |id: AllocId| pools.get(id.index()).copied().unwrap_or(0);
    for (id, row) in program.moved() {
        out.push_lifetime(id.0, pool_of(id), row, initial <= id.index());
    }
    for (number, added) in (program.recorded_count() as u32..).zip(&program.added) {
        out.push_lifetime(number, pool_of(added.like), added.row, true);
    }
    out.in_order()
}

/// Requests at points. They are apart since what is made is nearly in order, which a stable sort makes use of.
#[derive(Default)]
struct Moved {
    freed: Vec<(Point, Request)>,
    made: Vec<(Point, Request)>,
}

impl Moved {
    fn push_lifetime(&mut self, slot: u32, pool_stream: u32, row: Row, is_made: bool) {
        if row.bytes == 0 || row.end <= row.start {
            return;
        }
        let event = |point: Point| point.event().map_or(0, |event| event.0);
        if is_made {
            let op = Op::Alloc { slot, pool_stream, requested: row.bytes.min(MAX_REQUEST_BYTES) };
            self.made.push((row.start, Request { event: event(row.start), op }));
        }
        if row.end != Point::NEVER {
            self.freed.push((row.end, Request { event: event(row.end), op: Op::Free { slot } }));
        }
    }

    /// All of them. What is freed at a point is freed before anything is made there.
    fn in_order(self) -> Vec<(Point, Request)> {
        let mut all = self.freed;
        all.extend(self.made);
        all.sort_by_key(|(point, _)| *point);
        all
    }
}

/// The pair of pool and stream of each allocation.
fn pools_of(requests: &Requests, timeline: &Timeline) -> Vec<u32> {
    let lifetimes = &timeline.lifetimes;
    let mut out = vec![0; lifetimes.len()];
    for segment in &requests.initial.segments {
        for block in &requests.initial.blocks[segment.blocks.clone()] {
            if let Some(pool) = out.get_mut(block.id.index()) {
                *pool = segment.pool_stream;
            }
        }
    }
    let mut next = lifetimes.initial_count() as u32;
    for request in &requests.all {
        if let Op::Alloc { pool_stream, .. } = request.op
            && let Some(id) = next_made_by(timeline, &mut next, request.event)
        {
            out[id as usize] = pool_stream;
        }
    }
    out
}

/// The allocation that an event made. Events are asked for in order, so that `next` is where to go on.
#[inline]
fn next_made_by(timeline: &Timeline, next: &mut u32, event: u32) -> Option<u32> {
    let lifetimes = &timeline.lifetimes;
    let after = Moment::after(EventIx(event));
    while (*next as usize) < lifetimes.len() && lifetimes.start(AllocId(*next)) < after {
        *next += 1;
    }
    let is_it = (*next as usize) < lifetimes.len() && lifetimes.start(AllocId(*next)) == after;
    is_it.then_some(*next)
}

/// The state before the first event without what a program leaves out. A segment that held nothing else is not there.
fn changed_state(state: &InitialState, program: &Program<'_>, settings: &Settings) -> InitialState {
    let mut out = InitialState { unplaced: state.unplaced, ..InitialState::default() };
    for segment in &state.segments {
        let first = out.blocks.len();
        let had_blocks = !segment.blocks.is_empty();
        let blocks = &state.blocks[segment.blocks.clone()];
        out.blocks.extend(blocks.iter().filter_map(|block| changed_block(block, program, settings)));
        let blocks = first..out.blocks.len();
        if blocks.is_empty() && had_blocks {
            continue;
        }
        out.segments.push(InitialSegment { blocks, ..segment.clone() });
    }
    out
}

/// A block with the size that a program has for it; `None` if the program leaves it out. It has the room that it had.
fn changed_block(block: &InitialBlock, program: &Program<'_>, settings: &Settings) -> Option<InitialBlock> {
    let (row, id) = (program.row(block.id), block.id);
    let recorded = program.timeline().size(id);
    if row.bytes == recorded.as_u64() && program.is_in_place(id) {
        return Some(InitialBlock { slot: id.0, ..*block });
    }
    if row.bytes == 0 || row.end <= row.start {
        return None;
    }
    let is_smaller = row.bytes < block.requested;
    let size = if is_smaller { block_bytes(row.bytes, settings).min(block.size) } else { block.size };
    Some(InitialBlock { size, requested: row.bytes.min(size), slot: id.0, ..*block })
}

/// The requests of a changed program; see [`Requests::of_program`].
pub(crate) struct ChangedRequests<'a> {
    program: &'a Program<'a>,
    recorded: std::slice::Iter<'a, Request>,
    /// A recorded request that comes after what is moved to points before it.
    waiting: Option<Request>,
    /// A free that was not recorded, right before the recorded request.
    unrecorded: Option<Request>,
    /// The next allocation of the recording.
    next_id: u32,
    /// The allocation that each slot of the recording holds.
    holders: Vec<u32>,
    /// What is made and given back at other points, in order.
    moved: Vec<(Point, Request)>,
    next_moved: usize,
    /// The next of the requests that failed.
    next_failed: usize,
}

impl ChangedRequests<'_> {
    /// A recorded request as the program makes it; `None` if it does not, or at another point.
    #[inline]
    fn changed(&mut self, request: &Request) -> Option<Request> {
        let event = request.event;
        let slot_of = |slot| move |op: fn(u32) -> Op| Some(Request { event, op: op(slot) });
        match request.op {
            Op::Alloc { slot, pool_stream, requested } => self.alloc(request, slot, pool_stream, requested),
            Op::Oom { pool_stream, .. } => {
                let bytes = self.failed_bytes(event)?;
                Some(Request { event, op: Op::Oom { pool_stream, requested: bytes.min(MAX_REQUEST_BYTES) } })
            }
            Op::FreeRequested { slot } => {
                slot_of(self.holder(slot, false)?)(|slot| Op::FreeRequested { slot })
            }
            Op::Free { slot } => slot_of(self.holder(slot, true)?)(|slot| Op::Free { slot }),
            Op::FreeCompleted { slot } => {
                slot_of(self.holder(slot, true)?)(|slot| Op::FreeCompleted { slot })
            }
            Op::FreeForced { slot } => slot_of(self.holder(slot, true)?)(|slot| Op::FreeForced { slot }),
            Op::MaybeForced { slot } => slot_of(self.holder(slot, true)?)(|slot| Op::MaybeForced { slot }),
            Op::Flush(_) | Op::MaybeFlush | Op::PoolFreed(_) => Some(*request),
        }
    }

    fn alloc(&mut self, request: &Request, slot: u32, pool_stream: u32, requested: u64) -> Option<Request> {
        let event = request.event;
        let id = next_made_by(self.program.timeline(), &mut self.next_id, event)?;
        // The free of what was there before was not recorded.
        if let Some(before) = self.holder(slot, true) {
            self.unrecorded = Some(Request { event, op: Op::Free { slot: before } });
        }
        if let Some(holder) = self.holders.get_mut(slot as usize) {
            *holder = id;
        }
        if self.program.is_untouched(AllocId(id)) {
            return Some(Request { event, op: Op::Alloc { slot: id, pool_stream, requested } });
        }
        if !self.is_kept(id) {
            return None;
        }
        let recorded = self.program.timeline().size(AllocId(id)).as_u64();
        let row = self.program.row(AllocId(id));
        // Sizes that no program asks for are read in their own way.
        let requested = if row.bytes == recorded { requested } else { row.bytes.min(MAX_REQUEST_BYTES) };
        Some(Request { event, op: Op::Alloc { slot: id, pool_stream, requested } })
    }

    /// The allocation that a slot of the recording holds, if the program frees it where that was recorded.
    #[inline]
    fn holder(&mut self, slot: u32, is_over: bool) -> Option<u32> {
        let holder = self.holders.get_mut(slot as usize)?;
        let id = *holder;
        if is_over {
            *holder = NOTHING;
        }
        (id != NOTHING && self.is_kept(id)).then_some(id)
    }

    /// Whether the program makes and frees an allocation where the recorded one did.
    #[inline]
    fn is_kept(&self, id: u32) -> bool {
        let (program, id) = (self.program, AllocId(id));
        let is_there = || program.row(id).bytes != 0 || program.timeline().size(id) <= 0;
        program.is_untouched(id) || (program.is_in_place(id) && is_there())
    }

    /// The next of what is made or given back at other points, if it comes before a point.
    #[inline]
    fn moved_before(&mut self, at: Point) -> Option<Request> {
        let (_, request) = self.moved.get(self.next_moved).filter(|(point, _)| *point < at)?;
        self.next_moved += 1;
        Some(*request)
    }

    /// The bytes of the request that failed at an event; `None` if the program does without it.
    fn failed_bytes(&mut self, event: u32) -> Option<u64> {
        let failed = self.program.failed().get(self.next_failed)?;
        self.next_failed += 1;
        debug_assert_eq!(failed.event, EventIx(event), "requests that failed are in order");
        Some(failed.bytes).filter(|&bytes| bytes != 0)
    }
}

impl Iterator for ChangedRequests<'_> {
    type Item = Request;

    #[inline]
    fn next(&mut self) -> Option<Request> {
        while self.waiting.is_none() && self.unrecorded.is_none() {
            let Some(request) = self.recorded.next() else { break };
            self.waiting = self.changed(request);
        }
        if let Some(free) = self.unrecorded.take() {
            return Some(free);
        }
        let Some(waiting) = self.waiting else { return self.moved_before(Point::NEVER) };
        if let Some(request) = self.moved_before(Point::at(EventIx(waiting.event))) {
            return Some(request);
        }
        self.waiting = None;
        Some(waiting)
    }
}
