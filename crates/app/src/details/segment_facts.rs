//! One segment as text.

use super::allocation_facts::pool_text;
use super::facts::{FrameText, frames};
use crate::device::Derived;
use crate::texts::{self, marked};
use oomscope_model::{AllocId, Bytes, Moment, Recording, ReservedRange};
use oomscope_units as units;
use std::cmp::Reverse;
use tr::tr;

/// Blocks that are listed at most.
const MAX_BLOCKS: usize = 12;

/// Facts about the segment at an address at a moment.
pub(super) struct SegmentFacts {
    pub(super) title: String,
    pub(super) rows: Vec<(&'static str, String)>,
    /// The first moment at which it is reserved, if an event reserved it.
    pub(super) start: Option<Moment>,
    /// The stack that reserved it, innermost frame first.
    pub(super) frames: Vec<FrameText>,
    /// Its live blocks with their sizes, largest first.
    pub(super) blocks: Vec<(AllocId, String)>,
    /// Blocks that are not listed.
    pub(super) more: usize,
}

impl SegmentFacts {
    /// `None` where nothing is reserved at the address.
    pub(super) fn new(recording: &Recording, derived: &Derived, addr: u64, moment: Moment) -> Option<Self> {
        let segment = segment_at(recording, addr, moment)?;
        let inside = |id: &AllocId| segment.contains(recording.addr(*id));
        let mut live: Vec<AllocId> = recording.lifetimes.live_at(moment).filter(inside).collect();
        live.sort_by_key(|&id| (Reverse(recording.size(id)), id));
        let in_use = live.iter().map(|&id| recording.size(id)).sum::<Bytes>();
        let start = segment.start.event();
        let size = units::bytes(segment.size);
        let title = if segment.is_expandable {
            tr!("{size} expandable segment", size)
        } else {
            tr!("{size} segment", size)
        };
        Some(Self {
            title,
            rows: vec![
                (marked!("Address"), units::address(segment.addr)),
                (marked!("Size"), units::bytes_exact(segment.size)),
                (marked!("In use"), texts::in_blocks(&units::bytes(in_use), live.len())),
                (marked!("Pool"), segment.pool.map_or_else(|| tr!("not recorded"), pool_text)),
                (marked!("Stream"), segment.stream.map_or_else(|| tr!("not recorded"), |s| s.to_string())),
                (
                    marked!("Reserved"),
                    start.map_or_else(
                        || tr!("before the recording"),
                        |event| derived.figures.event_text(recording, event),
                    ),
                ),
            ],
            start: start.map(|_| segment.start),
            frames: start
                .map(|event| frames(recording.snapshot(), recording.events.stack(event)))
                .unwrap_or_default(),
            more: live.len().saturating_sub(MAX_BLOCKS),
            blocks: live
                .into_iter()
                .take(MAX_BLOCKS)
                .map(|id| (id, units::bytes(recording.size(id))))
                .collect(),
        })
    }
}

/// The segment around an address; of an expandable one, all pages that lie side by side.
fn segment_at(recording: &Recording, addr: u64, moment: Moment) -> Option<ReservedRange> {
    let mut live: Vec<&ReservedRange> = recording.ranges.live_at(moment).collect();
    live.sort_by_key(|range| range.addr);
    let at = live.iter().position(|range| range.contains(addr))?;
    let mut all = **live.get(at)?;
    let belongs = |all: &ReservedRange, other: &ReservedRange| {
        all.is_expandable && other.is_expandable && (all.stream, all.pool) == (other.stream, other.pool)
    };
    for before in live.get(..at)?.iter().rev() {
        if !belongs(&all, before) || before.past_end() != all.addr {
            break;
        }
        all.addr = before.addr;
        all.size += before.size;
        all.start = all.start.min(before.start);
    }
    for after in live.get(at + 1..)? {
        if !belongs(&all, after) || all.past_end() != after.addr {
            break;
        }
        all.size += after.size;
        all.start = all.start.min(after.start);
    }
    Some(all)
}
