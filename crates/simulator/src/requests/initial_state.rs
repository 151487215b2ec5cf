//! The state before the first event: segments, blocks, and their sizes as far as they can be known.
//!
//! A trace has the size that a block was asked for, not the size that it took. Blocks of the large pool may be up to
//! 1 MiB larger than their rounded request, because the rest of a cached block was too small to be split off. Three
//! things show the true size: the final state, for blocks that survive; the address of the first block that is put
//! behind, since blocks are cut from the low end of a free one; and gaps that are too small to be free blocks.

use super::pool_streams::PoolStreams;
use super::segment_events::FIRST_SIMULATED_ADDRESS;
use crate::settings::{
    MAX_REQUEST_BYTES, SMALL_BUFFER, SMALL_SIZE, Settings, block_bytes, clamped, is_large,
};
use foldhash::HashMap;
use oomscope_model::{
    Action, AddrId, AllocId, Allocation, BlockState, Moment, PoolKey, Recording, ReservedRange, Snapshot,
    StrId, Timeline,
};
use std::collections::BTreeMap;
use std::ops::Range;

/// A block that is live before the first event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InitialBlock {
    pub(crate) addr: u64,
    /// Bytes with rounding, at least.
    pub(crate) size: u64,
    pub(crate) requested: u64,
    pub(crate) slot: u32,
    pub(crate) is_pending: bool,
    /// The allocation that it is.
    pub(crate) id: AllocId,
}

/// Memory that is reserved before the first event.
#[derive(Debug, Clone)]
pub(crate) struct InitialSegment {
    pub(crate) addr: u64,
    pub(crate) size: u64,
    pub(crate) pool_stream: u32,
    pub(crate) is_large: bool,
    pub(crate) is_expandable: bool,
    /// Its blocks: a range of [`InitialState::blocks`].
    pub(crate) blocks: Range<usize>,
}

/// The state before the first event.
#[derive(Debug, Clone, Default)]
pub(crate) struct InitialState {
    /// By address.
    pub(crate) segments: Vec<InitialSegment>,
    pub(crate) blocks: Vec<InitialBlock>,
    /// Number of blocks that lie in no segment and are left out.
    pub(crate) unplaced: usize,
}

/// A block that may be larger than its rounded request.
struct DoubtfulEnd {
    /// Where it ends at least.
    rounded_end: u64,
    /// Where the next block or the end of the segment is.
    limit: u64,
    /// Its number in [`InitialState::blocks`].
    block: usize,
}

/// The state before the first event of a trace.
pub(crate) fn find(
    recording: &Recording,
    settings: &Settings,
    pool_streams: &mut PoolStreams,
) -> InitialState {
    let is_sane = |range: &&ReservedRange| {
        range.past_end() < FIRST_SIMULATED_ADDRESS && range.size <= MAX_REQUEST_BYTES as i64 && 0 < range.size
    };
    let ranges: Vec<&ReservedRange> = recording.ranges.live_at(Moment::START).filter(is_sane).collect();
    let count = recording.lifetimes.initial_count();
    if ranges.is_empty() {
        return InitialState { unplaced: count, ..InitialState::default() };
    }
    let initial: Vec<Allocation> = (0..count as u32).map(|id| recording.allocation(AllocId(id))).collect();
    let classes = SizeClasses::new(recording, settings);
    let mut reader = InitialStateReader {
        settings,
        survivors: survivors(recording),
        slots: slots(recording, &initial),
        initial: &initial,
        next: 0,
        out: InitialState::default(),
        doubts: BTreeMap::new(),
    };
    for range in ranges {
        let pool_stream = pool_streams.add(range.pool.unwrap_or(PoolKey::DEFAULT), range.stream.unwrap_or(0));
        reader.range(range, pool_stream, &classes);
    }
    let InitialStateReader { mut out, doubts, next, .. } = reader;
    out.unplaced += count - next;
    find_ends_by_next_block(recording, doubts, &mut out.blocks);
    out
}

/// The true sizes of the blocks that are live in the end, by address.
fn survivors(timeline: &Timeline) -> HashMap<u64, u64> {
    let blocks = timeline.segments.blocks.iter().filter(|block| block.is_active());
    blocks.map(|block| (block.addr, clamped(block.size))).collect()
}

/// The slots of the initial blocks, by address. An address that no event mentions has none.
fn slots(timeline: &Timeline, initial: &[Allocation]) -> HashMap<u64, u32> {
    let mut slots: HashMap<u64, u32> = initial.iter().map(|block| (block.addr, u32::MAX)).collect();
    for id in 0..timeline.events.address_count() as u32 {
        if let Some(slot) = slots.get_mut(&timeline.events.address(AddrId(id))) {
            *slot = id;
        }
    }
    slots
}

/// Puts the initial blocks into the ranges that are reserved before the first event, in the order of addresses.
struct InitialStateReader<'a> {
    settings: &'a Settings,
    survivors: HashMap<u64, u64>,
    slots: HashMap<u64, u32>,
    /// By address.
    initial: &'a [Allocation],
    /// The first of them that is in no range yet.
    next: usize,
    out: InitialState,
    /// By the address of the block.
    doubts: BTreeMap<u64, DoubtfulEnd>,
}

impl InitialStateReader<'_> {
    fn range(&mut self, range: &ReservedRange, pool_stream: u32, classes: &SizeClasses<'_>) {
        let first = self.out.blocks.len();
        while self.initial.get(self.next).is_some_and(|block| block.addr < range.addr) {
            self.next += 1;
            self.out.unplaced += 1;
        }
        let inside =
            self.initial[self.next..].iter().take_while(|block| block.addr < range.past_end()).count();
        let blocks = &self.initial[self.next..self.next + inside];
        let is_large = classes.is_large(range, blocks);
        for (i, block) in blocks.iter().enumerate() {
            let limit = blocks.get(i + 1).map_or(range.past_end(), |next| next.addr);
            self.block(block, limit, is_large && !range.is_expandable);
        }
        self.next += inside;
        self.out.segments.push(InitialSegment {
            addr: range.addr,
            size: clamped(range.size),
            pool_stream,
            is_large,
            is_expandable: range.is_expandable,
            blocks: first..self.out.blocks.len(),
        });
    }

    /// Add a block that ends at `limit` at the latest. It `has_slack` if it may be larger than its rounded request.
    fn block(&mut self, block: &Allocation, limit: u64, has_slack: bool) {
        debug_assert!(block.addr <= limit, "blocks are in the order of their addresses");
        let (requested, room) = (clamped(block.size), limit - block.addr);
        let rounded = block_bytes(requested, self.settings);
        let known = block.end.is_none().then(|| self.survivors.get(&block.addr).copied()).flatten();
        let gap = room.saturating_sub(rounded);
        let fills = has_slack && (gap <= SMALL_SIZE || self.settings.max_split() <= rounded);
        let size = match known {
            Some(size) => size.max(1).min(room),
            None if fills => room,
            None => rounded.min(room),
        };
        if has_slack && known.is_none() && !fills {
            let doubt = DoubtfulEnd { rounded_end: block.addr + size, limit, block: self.out.blocks.len() };
            self.doubts.insert(block.addr, doubt);
        }
        self.out.blocks.push(InitialBlock {
            addr: block.addr,
            size,
            requested,
            slot: self.slots.get(&block.addr).copied().unwrap_or(u32::MAX),
            is_pending: block.requested == Some(Moment::START),
            id: block.id,
        });
    }
}

/// Find where blocks end by the first block that is put behind them.
fn find_ends_by_next_block(
    timeline: &Timeline,
    mut doubts: BTreeMap<u64, DoubtfulEnd>,
    blocks: &mut [InitialBlock],
) {
    let events = &timeline.events;
    for ix in events.indices() {
        if doubts.is_empty() {
            break;
        }
        let Some(addr) = events.addr(ix) else { continue };
        match events.action(ix) {
            Action::Alloc => {
                let before = doubts.range(..=addr).next_back();
                let Some((&of, doubt)) = before.filter(|(_, doubt)| addr < doubt.limit) else { continue };
                let slack = addr.saturating_sub(doubt.rounded_end);
                if slack <= SMALL_SIZE {
                    blocks[doubt.block].size += slack;
                }
                doubts.remove(&of);
            }
            Action::FreeCompleted => {
                doubts.remove(&addr);
            }
            _ => {}
        }
    }
}

/// Which reserved ranges serve large blocks.
struct SizeClasses<'a> {
    snapshot: &'a Snapshot,
    /// Final segments by address: first address behind it, and kind.
    known: BTreeMap<u64, (u64, StrId)>,
    settings: &'a Settings,
}

impl<'a> SizeClasses<'a> {
    fn new(recording: &'a Recording, settings: &'a Settings) -> Self {
        let segments = recording.segments.segments.iter();
        let known = segments.filter_map(|segment| {
            let past_end = segment.addr.saturating_add(segment.size.as_u64());
            Some((segment.addr, (past_end, segment.kind?)))
        });
        Self { snapshot: recording.snapshot(), known: known.collect(), settings }
    }

    fn is_large(&self, range: &ReservedRange, blocks: &[Allocation]) -> bool {
        if !range.is_expandable {
            return clamped(range.size) != SMALL_BUFFER;
        }
        let segment = self.known.range(..=range.addr).next_back();
        if let Some((_, &(past_end, kind))) = segment
            && range.addr < past_end
            && range.end.is_none()
        {
            return !self.snapshot.strings.is(kind, b"small");
        }
        let whole_pages = clamped(range.size).is_multiple_of(self.settings.large_segment_bytes);
        blocks.first().map_or(whole_pages, |block| is_large(block_bytes(clamped(block.size), self.settings)))
    }
}

/// Mark the private pools whose blocks are not split. The snapshot does not say so, but a block that is much larger
/// than its request shows it.
pub(crate) fn find_unsplit_pools(timeline: &Timeline, settings: &Settings, pool_streams: &mut PoolStreams) {
    let table = &timeline.segments;
    for segment in &table.segments {
        let Some(key) = segment.pool.filter(|pool| pool.is_private()) else { continue };
        let is_unsplit = table.blocks_of(segment).iter().any(|block| {
            let rounded = block_bytes(clamped(block.requested), settings);
            let slack = clamped(block.size).saturating_sub(rounded);
            let splits = if is_large(rounded) {
                SMALL_SIZE < slack && rounded < settings.max_split()
            } else {
                slack != 0
            };
            block.state != BlockState::Inactive && splits
        });
        if is_unsplit && let Some(pool) = pool_streams.pool(key) {
            pool_streams.set_unsplit(pool);
        }
    }
}
