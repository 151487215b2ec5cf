//! Segments and blocks at a moment: as the file records them after its last event, else as the events show them.

use crate::interchange::selection::Portion;
use foldhash::HashMap;
use oomscope_analysis::segment_state::{Basis, Content, Part, Row, SizeClass};
use oomscope_analysis::{Categories, Category, SegmentIndex, SegmentState};
use oomscope_model::{
    AllocId, Anchor, Block, BlockState, Bytes, PoolKey, Segment, Snapshot, StackId, StrId, Timeline,
};
use std::borrow::Cow;

/// The meaning of the column `state_basis`.
pub(super) const STATE_BASIS: &str = "recorded: the file says so; events: undone from its end, so a free piece may be up to \
    1 MiB smaller; trace: events alone, as the end is missing";

/// A block at a moment.
pub(super) struct BlockRow {
    pub(super) device: i64,
    pub(super) segment: usize,
    pub(super) addr: u64,
    pub(super) size: Bytes,
    pub(super) requested: Option<Bytes>,
    pub(super) state: &'static str,
    pub(super) allocation: Option<AllocId>,
    pub(super) category: Option<Category>,
    pub(super) stream: Option<i64>,
    pub(super) pool: Option<PoolKey>,
    pub(super) stack: StackId,
    pub(super) basis: &'static str,
}

/// A segment at a moment.
pub(super) struct SegmentRow {
    pub(super) device: i64,
    pub(super) segment: usize,
    pub(super) addr: u64,
    pub(super) size: Bytes,
    pub(super) allocated: Bytes,
    pub(super) awaiting: Bytes,
    pub(super) inactive: Bytes,
    pub(super) blocks: usize,
    pub(super) stream: Option<i64>,
    pub(super) pool: Option<PoolKey>,
    class: Class,
    pub(super) is_expandable: bool,
    pub(super) stack: StackId,
    pub(super) basis: &'static str,
}

/// The size class of a segment.
enum Class {
    Recorded(Option<StrId>),
    Found(Option<SizeClass>),
}

impl SegmentRow {
    /// `small` or `large`; `None` if that is unknown.
    pub(super) fn kind<'a>(&self, snapshot: &'a Snapshot) -> Option<Cow<'a, str>> {
        match self.class {
            Class::Recorded(name) => name.map(|name| snapshot.strings.whole(name)),
            Class::Found(class) => class.map(|class| match class {
                SizeClass::Small => "small".into(),
                SizeClass::Large => "large".into(),
            }),
        }
    }
}

/// Whether the file itself records the state at the moment of a portion.
fn is_recorded(portion: &Portion) -> bool {
    let timeline = portion.recording.timeline();
    timeline.anchor == Anchor::EndState && timeline.moments() <= portion.moment().index() + 1
}

/// The most segments that [`segments`] has.
pub(super) fn segments_at_most(portion: &Portion) -> u64 {
    portion.recording.segments.segments.len().max(portion.recording.ranges.all().len()) as u64
}

/// The most blocks that [`blocks`] has, roughly.
pub(super) fn blocks_at_most(portion: &Portion) -> u64 {
    portion.recording.segments.blocks.len() as u64
}

/// The segments of a device.
pub(super) fn segments(portion: &Portion) -> Vec<SegmentRow> {
    let timeline = portion.recording.timeline();
    if is_recorded(portion) {
        let all = timeline.segments.segments.iter().enumerate();
        return all.map(|(at, segment)| recorded_segment(timeline, at, segment)).collect();
    }
    let state = state(portion);
    let reserved = state.rows.iter().enumerate().filter(|(_, row)| !state.groups[row.group].key.is_outside);
    reserved.map(|(at, row)| found_segment(timeline.device.0, &state, at, row)).collect()
}

fn recorded_segment(timeline: &Timeline, at: usize, segment: &Segment) -> SegmentRow {
    let blocks = timeline.segments.blocks_of(segment);
    let sum = |wanted: BlockState| {
        let sizes = blocks.iter().filter(|block| block.state == wanted).map(|block| block.size);
        sizes.sum::<Bytes>()
    };
    SegmentRow {
        device: timeline.device.0,
        segment: at,
        addr: segment.addr,
        size: segment.size,
        allocated: sum(BlockState::Allocated),
        awaiting: sum(BlockState::AwaitingFree),
        inactive: sum(BlockState::Inactive),
        blocks: blocks.iter().filter(|block| block.is_active()).count(),
        stream: segment.stream,
        pool: segment.pool,
        class: Class::Recorded(segment.kind),
        is_expandable: segment.is_expandable,
        stack: segment.stack,
        basis: "recorded",
    }
}

fn found_segment(device: i64, state: &SegmentState, at: usize, row: &Row) -> SegmentRow {
    let key = state.groups[row.group].key;
    SegmentRow {
        device,
        segment: at,
        addr: row.addr,
        size: row.figures.reserved_bytes,
        allocated: row.figures.allocated_rounded_bytes,
        awaiting: row.figures.awaiting_rounded_bytes,
        inactive: row.figures.hole_bytes,
        blocks: row.figures.blocks,
        stream: key.stream,
        pool: key.pool,
        class: Class::Found(key.class),
        is_expandable: row.is_expandable,
        stack: StackId::EMPTY,
        basis: basis_name(state.basis),
    }
}

fn basis_name(basis: Basis) -> &'static str {
    match basis {
        Basis::EndState => "recorded",
        Basis::Events => "events",
        Basis::TraceOnly => "trace",
    }
}

fn state(portion: &Portion) -> SegmentState {
    SegmentIndex::new(&portion.recording).at(&portion.recording, portion.moment())
}

/// The blocks of a device; with a filter only those of its allocations.
pub(super) fn blocks(portion: &Portion) -> Vec<BlockRow> {
    let mut rows = if is_recorded(portion) { recorded_blocks(portion) } else { found_blocks(portion) };
    if portion.is_filtered() {
        rows.retain(|row| row.allocation.is_some_and(|id| portion.keeps(id)));
    }
    rows
}

fn recorded_blocks(portion: &Portion) -> Vec<BlockRow> {
    let (timeline, attribution) = (portion.recording.timeline(), &portion.attribution);
    let live = timeline.lifetimes.live_at(timeline.end());
    let live: HashMap<u64, AllocId> = live.map(|id| (timeline.addr(id), id)).collect();
    let segments = timeline.segments.segments.iter().enumerate();
    let blocks = segments.flat_map(|(at, segment)| {
        timeline.segments.blocks_of(segment).iter().map(move |block| (at, segment, block))
    });
    let row = |(at, segment, block): (usize, &Segment, &Block)| {
        let allocation = live.get(&block.addr).copied().filter(|_| block.is_active());
        BlockRow {
            device: timeline.device.0,
            segment: at,
            addr: block.addr,
            size: block.size,
            requested: block.is_active().then_some(block.requested),
            state: match block.state {
                BlockState::Allocated => "active_allocated",
                BlockState::AwaitingFree => "active_awaiting_free",
                BlockState::Inactive => "inactive",
            },
            allocation,
            category: allocation.map(|id| attribution.categories.get(id)),
            stream: segment.stream,
            pool: segment.pool,
            stack: block.stack,
            basis: "recorded",
        }
    };
    blocks.map(row).collect()
}

fn found_blocks(portion: &Portion) -> Vec<BlockRow> {
    let state = state(portion);
    let rows = state.rows.iter().enumerate();
    let parts = rows.flat_map(|(at, row)| state.parts_of(row).iter().map(move |part| (at, row, part)));
    let mapped = parts.filter(|(_, _, part)| part.content != Content::Unmapped);
    let categories = &portion.attribution.categories;
    mapped
        .map(|(at, row, part)| found_block(&portion.recording, categories, &state, (at, row, part)))
        .collect()
}

fn found_block(
    timeline: &Timeline,
    categories: &Categories,
    state: &SegmentState,
    (at, row, part): (usize, &Row, &Part),
) -> BlockRow {
    let (key, allocation) = (state.groups[row.group].key, part.content.allocation());
    BlockRow {
        device: timeline.device.0,
        segment: at,
        addr: part.addr,
        size: part.size,
        requested: part.content.is_block().then_some(part.requested),
        state: match part.content {
            Content::Allocated(_) => "active_allocated",
            Content::Awaiting(_) => "active_awaiting_free",
            Content::Hole | Content::Unmapped => "inactive",
        },
        allocation,
        category: allocation.map(|id| categories.get(id)),
        stream: key.stream,
        pool: key.pool,
        stack: allocation.map_or(StackId::EMPTY, |id| timeline.stack(id)),
        basis: basis_name(state.basis),
    }
}
