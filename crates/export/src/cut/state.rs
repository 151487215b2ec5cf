//! Segments and blocks after the last event of a range.
//!
//! After the last event of the recording they are the snapshot's own. Before, they are those of the segment map at that
//! moment: reserved ranges with the live allocations in them.

use super::range::DeviceRange;
use foldhash::HashMap;
use oomscope_analysis::SegmentIndex;
use oomscope_analysis::segment_state::{Content, GroupKey, Part, Row, SegmentState, SizeClass};
use oomscope_model::{
    AllocId, Anchor, Block, BlockState, Bytes, EventIx, Moment, Recording, ReservedRange, Segment,
    SegmentTable, StackId, StrId, Timeline,
};

/// Blocks that a cut could not write as the recording has them, since events and segments contradict each other, or the end of
/// the recording is missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lost {
    /// Blocks in no known segment. Each run of them is written as a segment of its own.
    pub outside_blocks: u64,
    /// Blocks that are left out, because others take all of their bytes.
    pub hidden_blocks: u64,
}

/// Segments with their blocks, and what they lack.
pub(super) struct EndState {
    pub(super) segments: SegmentTable,
    pub(super) lost: Lost,
}

/// The state after the last event of a range, with the blocks of allocations that match.
pub(super) fn end_state(range: &DeviceRange) -> EndState {
    let recording = &range.recording;
    let is_as_recorded = match recording.anchor {
        Anchor::EndState => range.is_to_end(),
        // Other devices of the file have segments, this one has none: that is how it is read again.
        Anchor::TraceOnly => range.is_whole() && recording.snapshot().damage.is_none(),
    };
    let keeps = |id: AllocId| range.matches.as_ref().is_none_or(|matches| matches.contains(id));
    if is_as_recorded {
        let segments = if range.matches.is_none() {
            recording.segments.clone()
        } else {
            kept_blocks(recording, range.end(), keeps)
        };
        return EndState { segments, lost: Lost::default() };
    }
    let map = SegmentIndex::new(recording).at(recording, range.end());
    let lost = Lost {
        outside_blocks: map.outside.blocks as u64,
        hidden_blocks: map.contradictions.hidden.len() as u64,
    };
    let builder = Builder::new(recording, range.end());
    EndState { segments: builder.table(&map, keeps), lost }
}

/// The recorded segments, in which blocks of other allocations than those that are kept are free.
fn kept_blocks(timeline: &Timeline, end: Moment, keeps: impl Fn(AllocId) -> bool) -> SegmentTable {
    let live: HashMap<u64, AllocId> =
        timeline.lifetimes.live_at(end).map(|id| (timeline.addr(id), id)).collect();
    let mut out = SegmentTable::default();
    for segment in &timeline.segments.segments {
        let start = out.blocks.len();
        for block in timeline.segments.blocks_of(segment) {
            let is_dropped = block.is_active() && live.get(&block.addr).is_some_and(|&id| !keeps(id));
            push_block(
                &mut out.blocks,
                start,
                if is_dropped { free(block.addr, block.size) } else { *block },
            );
        }
        out.segments.push(Segment { blocks: start..out.blocks.len(), ..segment.clone() });
    }
    out
}

fn free(addr: u64, size: Bytes) -> Block {
    Block { addr, size, requested: Bytes::ZERO, state: BlockState::Inactive, stack: StackId::EMPTY }
}

/// Append a block to those of a segment, whose first is at `start`. Free blocks that touch are one, as in the allocator.
fn push_block(blocks: &mut Vec<Block>, start: usize, block: Block) {
    let is_free = |block: &Block| block.state == BlockState::Inactive;
    let touches = |last: &Block| last.addr.checked_add_signed(last.size.0) == Some(block.addr);
    match blocks[start..].last_mut() {
        Some(last) if is_free(last) && is_free(&block) && touches(last) => {
            last.size += block.size;
        }
        _ => blocks.push(block),
    }
}

/// Puts segments together from a segment map.
struct Builder<'a> {
    timeline: &'a Timeline,
    /// The reserved ranges at the moment, by address.
    ranges: Vec<ReservedRange>,
    /// The recorded segments, by address.
    recorded: HashMap<u64, &'a Segment>,
    /// How the file spells the small and the large pool.
    kinds: [Option<StrId>; 2],
    out: SegmentTable,
}

impl<'a> Builder<'a> {
    fn new(recording: &'a Recording, moment: Moment) -> Self {
        let snapshot = recording.snapshot();
        let mut ranges: Vec<ReservedRange> = recording.ranges.live_at(moment).copied().collect();
        ranges.sort_unstable_by_key(|range| range.addr);
        let spelled = |text: &[u8]| {
            let mut ids = (0..snapshot.strings.len() as u32).map(StrId);
            ids.find(|&id| snapshot.strings.is(id, text))
        };
        Self {
            timeline: recording,
            ranges,
            recorded: recording.segments.segments.iter().map(|s| (s.addr, s)).collect(),
            kinds: [spelled(b"small"), spelled(b"large")],
            out: SegmentTable::default(),
        }
    }

    fn table(mut self, map: &SegmentState, keeps: impl Fn(AllocId) -> bool) -> SegmentTable {
        for row in &map.rows {
            let parts = map.parts_of(row);
            let runs = parts.split(|part| part.content == Content::Unmapped).filter(|run| !run.is_empty());
            for run in runs {
                self.segment(row, &map.groups[row.group].key, run, &keeps);
            }
        }
        self.out
    }

    /// A run of addresses without a gap becomes a segment.
    fn segment(&mut self, row: &Row, key: &GroupKey, run: &[Part], keeps: impl Fn(AllocId) -> bool) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return };
        let (addr, size) = (first.addr, last.past_end().saturating_sub(first.addr));
        let start = self.out.blocks.len();
        for part in run {
            let block = self.block(part).filter(|&(id, _)| keeps(id)).map(|(_, block)| block);
            push_block(&mut self.out.blocks, start, block.unwrap_or_else(|| free(part.addr, part.size)));
        }
        let at = self.ranges.partition_point(|range| range.addr <= addr).checked_sub(1);
        let range = at.map(|at| self.ranges[at]).filter(|range| range.contains(addr) && !key.is_outside);
        let recorded = range.filter(|range| range.end.is_none()).and_then(|_| self.recorded.get(&addr));
        let reserved_by = range.and_then(|range| range.start.event());
        self.out.segments.push(Segment {
            device: self.timeline.device,
            addr,
            size: Bytes::of_size(size),
            stream: range.map_or(key.stream, |range| range.stream),
            pool: range.map_or(key.pool, |range| range.pool),
            kind: recorded.and_then(|segment| segment.kind).or_else(|| self.kind(key.class?)),
            is_expandable: row.is_expandable,
            stack: recorded.map_or_else(|| self.stack(reserved_by), |segment| segment.stack),
            blocks: start..self.out.blocks.len(),
        });
    }

    /// The block of an allocation; `None` for a hole.
    fn block(&self, part: &Part) -> Option<(AllocId, Block)> {
        let state = match part.content {
            Content::Allocated(_) => BlockState::Allocated,
            Content::Awaiting(_) => BlockState::AwaitingFree,
            Content::Hole | Content::Unmapped => return None,
        };
        let id = part.content.allocation()?;
        let block = Block {
            addr: part.addr,
            size: part.size,
            requested: self.timeline.size(id),
            state,
            stack: self.timeline.stack(id),
        };
        Some((id, block))
    }

    fn kind(&self, class: SizeClass) -> Option<StrId> {
        self.kinds[usize::from(class == SizeClass::Large)]
    }

    fn stack(&self, event: Option<EventIx>) -> StackId {
        event.map_or(StackId::EMPTY, |event| self.timeline.events.stack(event))
    }
}
