//! The segment map after the last event, from the snapshot's own segments and blocks.

use super::builder::{Builder, bytes_between};
use super::contradictions::Contradiction;
use super::part::{Content, Part};
use super::reserved::{Run, mark_rows};
use super::segment_classes::SegmentClasses;
use super::tiling::Live;
use oomscope_model::{AllocId, Block, BlockState, Bytes, Segment, Timeline};

/// Tile the snapshot's segments. `live` are the live allocations by the events, ordered by address.
pub(super) fn tile(
    builder: &mut Builder,
    classes: &SegmentClasses,
    max_gap_bytes: Bytes,
    timeline: &Timeline,
    live: &[Live],
) {
    let table = &timeline.segments;
    builder.reserve(table.blocks.len() / 2);
    let is_empty = |s: &&Segment| s.size <= 0;
    let empty = table.segments.iter().filter(is_empty).count();
    builder.contradictions.add(Contradiction::NoSize, empty as u64);
    let mut segments: Vec<&Segment> = table.segments.iter().filter(|s| !is_empty(s)).collect();
    segments.sort_by_key(|segment| segment.addr);
    let mut runs: Vec<Run> = segments.iter().map(|segment| run(classes, segment)).collect();
    mark_rows(&mut runs, max_gap_bytes);
    let mut end = EndState { builder, live, found: 0 };
    let mut free_from = 0;
    for (run, segment) in runs.iter_mut().zip(segments) {
        if run.addr < free_from {
            end.builder.contradictions.count(Contradiction::SegmentsOverlap);
            run.starts_row = true;
        }
        free_from = free_from.max(run.past_end);
        end.builder.start_run(run);
        end.segment(run, table.blocks_of(segment));
    }
    let missing = live.len().saturating_sub(end.found);
    builder.contradictions.add(Contradiction::AllocationWithoutBlock, missing as u64);
}

fn run(classes: &SegmentClasses, segment: &Segment) -> Run {
    Run {
        addr: segment.addr,
        past_end: segment.addr.saturating_add(segment.size.unsigned_abs()),
        pool: segment.pool,
        stream: segment.stream,
        class: classes.class_at(segment.addr),
        is_expandable: segment.is_expandable,
        starts_row: true,
    }
}

struct EndState<'a> {
    builder: &'a mut Builder,
    live: &'a [Live],
    /// Number of allocations of `live` that have a block.
    found: usize,
}

impl EndState<'_> {
    /// Tile one segment with its blocks. In an intact file they tile it by themselves.
    fn segment(&mut self, run: &Run, blocks: &[Block]) {
        let mut at = run.addr;
        for block in blocks {
            if block.size <= 0 {
                self.builder.contradictions.count(Contradiction::NoSize);
                continue;
            }
            if block.addr != at {
                self.builder.contradictions.count(Contradiction::NotTiled);
            }
            let past_end = block.addr.saturating_add(block.size.unsigned_abs());
            if run.past_end < past_end {
                self.builder.contradictions.count(Contradiction::BeyondSegment);
            }
            // Parts are laid end to end, whatever the addresses and sizes of blocks are.
            let start = block.addr.clamp(at, run.past_end);
            self.builder.hole(at, start);
            let end = past_end.clamp(start, run.past_end);
            self.block(block, start, end);
            at = end;
        }
        if at < run.past_end {
            self.builder.contradictions.count(Contradiction::NotTiled);
            self.builder.hole(at, run.past_end);
        }
    }

    fn block(&mut self, block: &Block, start: u64, end: u64) {
        let content = match block.state {
            BlockState::Inactive => Content::Hole,
            BlockState::Allocated => Content::Allocated(self.allocation(block)),
            BlockState::AwaitingFree => Content::Awaiting(self.allocation(block)),
        };
        if content == Content::Hole {
            return self.builder.hole(start, end);
        }
        if end <= start {
            self.builder.contradictions.hidden.extend(content.allocation());
        }
        let requested = block.requested.clamp(Bytes::ZERO, bytes_between(start, end));
        self.builder.push(Part { addr: start, size: bytes_between(start, end), requested, content });
    }

    /// The live allocation at a block's address; `None` counts as a contradiction.
    fn allocation(&mut self, block: &Block) -> Option<AllocId> {
        let found = self.live.binary_search_by_key(&block.addr, |live| live.addr);
        let Ok(i) = found else {
            self.builder.contradictions.count(Contradiction::BlockWithoutAllocation);
            return None;
        };
        self.found += 1;
        Some(self.live[i].id)
    }
}
