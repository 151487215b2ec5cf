//! A small allocator for tests: it plays random requests and keeps its own state after each event.

use crate::model::{
    Action, Anchor, Block, BlockState, DeviceId, Event, EventTable, PoolKey, Segment, SegmentTable, StackId,
    Timeline, TimelineInput,
};
use std::collections::BTreeMap;

/// Bytes of a cell, the unit of blocks.
pub(crate) const CELL: u64 = 512;

/// Cells of a page.
const PAGE: u64 = 8;

/// Cells of a region. Even regions hold one segment, odd ones an expandable segment.
const REGION: u64 = 64;

const REGIONS: u64 = 4;

const BASE: u64 = 0x7f00_0000_0000;

/// One random request; its meaning depends on the state.
pub(crate) type Request = (u8, u8, u8, u16);

/// A block of the toy allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ToyBlock {
    /// Bytes that were asked for.
    pub(crate) requested: i64,
    /// Cells that it takes.
    pub(crate) cells: u64,
    pub(crate) is_awaiting: bool,
    /// The event that allocated it, as a position in the whole history.
    pub(crate) born: usize,
}

/// Its state: reserved cells with the region's number, and blocks by first cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ToyState {
    pub(crate) cells: BTreeMap<u64, u64>,
    pub(crate) blocks: BTreeMap<u64, ToyBlock>,
}

/// A history with the state before each event and after the last.
pub(crate) struct Toy {
    pub(crate) states: Vec<ToyState>,
    events: Vec<(Action, u64, i64)>,
}

pub(crate) fn address(cell: u64) -> u64 {
    BASE + cell * CELL
}

pub(crate) fn stream_of(region: u64) -> i64 {
    (region / 2) as i64
}

impl ToyState {
    fn is_free(&self, from: u64, cells: u64) -> bool {
        let is_in_block =
            |cell: u64| self.blocks.range(..=cell).next_back().is_some_and(|(at, b)| cell < at + b.cells);
        (from..from + cells).all(|cell| self.cells.contains_key(&cell) && !is_in_block(cell))
            && (from..from + cells).all(|cell| self.cells.get(&cell) == self.cells.get(&from))
    }

    fn nth_block(&self, n: u8, is_awaiting: bool) -> Option<u64> {
        let of_kind: Vec<u64> =
            self.blocks.iter().filter(|(_, b)| b.is_awaiting == is_awaiting).map(|(&at, _)| at).collect();
        of_kind.get(usize::from(n) % of_kind.len().max(1)).copied()
    }

    /// Runs of reserved cells: first, past the end, region. A segment's never touches another's.
    pub(crate) fn runs(&self) -> Vec<(u64, u64, u64)> {
        let mut runs: Vec<(u64, u64, u64)> = Vec::new();
        for (&cell, &region) in &self.cells {
            match runs.last_mut() {
                Some((_, end, of)) if *end == cell && *of == region => *end += 1,
                _ => runs.push((cell, cell + 1, region)),
            }
        }
        runs
    }
}

impl Toy {
    /// Play requests.
    pub(crate) fn play(requests: &[Request]) -> Self {
        let mut toy = Self { states: vec![ToyState::default()], events: Vec::new() };
        for &request in requests {
            toy.request(request);
        }
        toy
    }

    fn event(&mut self, state: ToyState, action: Action, cell: u64, size: i64) {
        self.events.push((action, address(cell), size));
        self.states.push(state);
    }

    fn request(&mut self, (op, a, b, size): Request) {
        let now = self.states.last().cloned().unwrap_or_default();
        let mut next = now.clone();
        let region = u64::from(a) % REGIONS;
        let first = region * REGION;
        let page = first + u64::from(b) % (REGION / PAGE) * PAGE;
        let is_expandable = region % 2 == 1;
        match op % 8 {
            0 if is_expandable && !now.cells.contains_key(&page) => {
                next.cells.extend((page..page + PAGE).map(|cell| (cell, region)));
                self.event(next, Action::SegmentMap, page, (PAGE * CELL) as i64);
            }
            0 if !is_expandable && !now.cells.contains_key(&first) => {
                let cells = PAGE + u64::from(b) % (REGION - PAGE);
                next.cells.extend((first..first + cells).map(|cell| (cell, region)));
                self.event(next, Action::SegmentAlloc, first, (cells * CELL) as i64);
            }
            1 if is_expandable && now.is_free(page, PAGE) => {
                next.cells.retain(|cell, _| !(page..page + PAGE).contains(cell));
                self.event(next, Action::SegmentUnmap, page, (PAGE * CELL) as i64);
            }
            1 if !is_expandable => {
                let cells = now.cells.values().filter(|&&of| of == region).count() as u64;
                if 0 < cells && now.is_free(first, cells) {
                    next.cells.retain(|_, of| *of != region);
                    self.event(next, Action::SegmentFree, first, (cells * CELL) as i64);
                }
            }
            2..=5 => {
                let requested = i64::from(size % 4000) + 1;
                // Some blocks keep slack, as those of the large pool do.
                let cells = (requested as u64).div_ceil(CELL) + u64::from(op / 8 % 3);
                let at = first + u64::from(b) % REGION;
                if now.is_free(at, cells) {
                    let born = self.events.len();
                    next.blocks.insert(at, ToyBlock { requested, cells, is_awaiting: false, born });
                    self.event(next, Action::Alloc, at, requested);
                }
            }
            6 => self.free(b, false),
            7 => self.free(b, true),
            _ => {}
        }
    }

    fn free(&mut self, n: u8, completes: bool) {
        let now = self.states.last().cloned().unwrap_or_default();
        let waiting = now.nth_block(n, true).filter(|_| completes);
        let Some(at) = waiting.or_else(|| now.nth_block(n, false)) else { return };
        let size = now.blocks[&at].requested;
        let mut next = now;
        if waiting.is_some() {
            next.blocks.remove(&at);
            self.event(next, Action::FreeCompleted, at, size);
        } else if let Some(block) = next.blocks.get_mut(&at) {
            block.is_awaiting = true;
            self.event(next, Action::FreeRequested, at, size);
        }
    }

    /// True if a block of any state is there at the end.
    pub(crate) fn survives(&self, block: &ToyBlock) -> bool {
        let end = self.states.last().map(|state| &state.blocks);
        end.is_some_and(|blocks| blocks.values().any(|other| other.born == block.born))
    }

    /// The timeline of the history without its first events, as a full ring buffer leaves it.
    pub(crate) fn timeline(&self, dropped: usize) -> Timeline {
        let mut events = EventTable::default();
        for &(action, addr, size) in self.events.iter().skip(dropped) {
            let region = (addr - BASE) / CELL / REGION;
            events.push(&event(action, addr, size, stream_of(region)));
        }
        let segments = self.states.last().map(final_segments).unwrap_or_default();
        Timeline::build(TimelineInput { device: DeviceId(0), events, segments, anchor: Anchor::EndState })
    }
}

/// An event of the default pool without a stack.
pub(crate) fn event(action: Action, addr: u64, size: i64, stream: i64) -> Event {
    Event {
        addr: (action != Action::Oom).then_some(addr),
        stream: Some(stream),
        pool: Some(PoolKey::DEFAULT),
        ..Event::new(action, 0, size)
    }
}

fn final_segments(state: &ToyState) -> SegmentTable {
    let mut table = SegmentTable::default();
    for (from, to, region) in state.runs() {
        let first = table.blocks.len();
        let mut block = |from: u64, to: u64, requested, state| {
            if from < to {
                let (addr, size) = (address(from), ((to - from) * CELL) as i64);
                table.blocks.push(Block { addr, size, requested, state, stack: StackId::EMPTY });
            }
        };
        let mut at = from;
        for (&start, b) in state.blocks.range(from..to) {
            block(at, start, 0, BlockState::Inactive);
            let state = if b.is_awaiting { BlockState::AwaitingFree } else { BlockState::Allocated };
            at = start + b.cells;
            block(start, at, b.requested, state);
        }
        block(at, to, 0, BlockState::Inactive);
        table.segments.push(Segment {
            device: DeviceId(0),
            addr: address(from),
            size: ((to - from) * CELL) as i64,
            stream: Some(stream_of(region)),
            pool: Some(PoolKey::DEFAULT),
            kind: None,
            is_expandable: region % 2 == 1,
            stack: StackId::EMPTY,
            blocks: first..table.blocks.len(),
        });
    }
    table
}
