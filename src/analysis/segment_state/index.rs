//! What stays the same from moment to moment, and the map of one moment.

use super::builder::Builder;
use super::reserved::{self, Run};
use super::tiling::{Live, Tiling};
use super::{Basis, SegmentState, SizeClass, end, fit};
use crate::model::{Anchor, BlockState, DeviceId, Moment, ReservedRange, Snapshot, StrId, Timeline};
use std::collections::BTreeSet;

/// Segments of the small pool have this size.
const SMALL_SEGMENT_BYTES: i64 = 2 << 20;

/// What the maps of a timeline share. Built once; does not depend on the moment.
#[derive(Debug, Clone)]
pub struct SegmentIndex {
    /// Address and size, with rounding, of the blocks that survive, by address.
    survivors: Vec<(u64, i64)>,
    /// Final segments by address: first byte, byte behind the last, size class.
    classes: Vec<(u64, u64, SizeClass)>,
    /// Runs of one expandable segment are at most this far apart.
    max_gap: i64,
    /// Whether a private pool is mentioned anywhere.
    pub(super) has_private_pools: bool,
    /// Which holes the allocator does not split.
    pub(super) split: fit::SplitRule,
}

impl SegmentIndex {
    /// Prepare for a timeline of a snapshot.
    pub fn new(snapshot: &Snapshot, timeline: &Timeline) -> Self {
        let blocks = timeline.segments.blocks.iter().filter(|block| block.state != BlockState::Inactive);
        let mut survivors: Vec<(u64, i64)> = blocks.map(|block| (block.addr, block.size)).collect();
        survivors.sort_unstable();
        survivors.dedup_by_key(|block| block.0);
        let segments = timeline.segments.segments.iter();
        let class = |kind: StrId| match snapshot.strings.bytes(kind) {
            b"small" => Some(SizeClass::Small),
            b"large" => Some(SizeClass::Large),
            _ => None,
        };
        // The host allocator has no size classes, although the file names one.
        let kinds = segments.clone().filter(|_| timeline.device != DeviceId::HOST);
        let mut classes: Vec<_> = kinds
            .filter_map(|s| {
                let past_end = s.addr.saturating_add(s.size.max(0).unsigned_abs());
                Some((s.addr, past_end, class(s.kind?)?))
            })
            .collect();
        classes.sort_unstable();
        let pools: BTreeSet<_> =
            segments.filter_map(|s| s.pool).chain(timeline.events.distinct_pools()).collect();
        Self {
            survivors,
            classes,
            max_gap: timeline.reserved.peak().1,
            has_private_pools: pools.iter().any(|pool| pool.is_private()),
            split: fit::SplitRule::new(snapshot),
        }
    }

    /// The map at a moment of the timeline that the index was made for.
    pub fn at(&self, timeline: &Timeline, moment: Moment) -> SegmentState {
        let is_last = timeline.moments() <= moment.index() + 1;
        let live = live_by_address(timeline, moment);
        let mut builder = Builder::new(self.has_private_pools);
        let basis = match timeline.anchor {
            Anchor::EndState if is_last => {
                end::tile(&mut builder, self, timeline, &live);
                Basis::EndState
            }
            anchor => {
                let is_host = timeline.device == DeviceId::HOST;
                let runs = reserved::runs(self, timeline, moment);
                let survivors = if anchor == Anchor::EndState { &self.survivors[..] } else { &[] };
                Tiling { builder: &mut builder, live: &live, survivors, is_host }.tile(&runs);
                if anchor == Anchor::EndState { Basis::Events } else { Basis::TraceOnly }
            }
        };
        builder.finish(moment, basis, timeline.reserved.at(moment))
    }

    /// The class of a reserved range, where its own record tells.
    pub(super) fn class_of_range(&self, timeline: &Timeline, range: &ReservedRange) -> Option<SizeClass> {
        if timeline.device == DeviceId::HOST {
            return None;
        }
        let recorded = range.end.is_none().then(|| self.class_at(range.addr)).flatten();
        let by_size = || {
            (!range.is_expandable).then_some(if range.size == SMALL_SEGMENT_BYTES {
                SizeClass::Small
            } else {
                SizeClass::Large
            })
        };
        recorded.or_else(by_size)
    }

    /// The class of the final segment that holds an address.
    pub(super) fn class_at(&self, addr: u64) -> Option<SizeClass> {
        let at = self.classes.partition_point(|&(start, ..)| start <= addr).checked_sub(1)?;
        let (_, past_end, class) = self.classes[at];
        (addr < past_end).then_some(class)
    }

    /// Mark where rows start among runs that are ordered by address.
    pub(super) fn mark_rows(&self, runs: &mut [Run]) {
        for i in 1..runs.len() {
            let (before, run) = (&runs[i - 1], &runs[i]);
            let gap = run.addr.saturating_sub(before.past_end);
            runs[i].starts_row = !before.is_same_segment(run) || self.max_gap.max(0).unsigned_abs() < gap;
        }
    }
}

/// The live allocations by address.
fn live_by_address(timeline: &Timeline, moment: Moment) -> Vec<Live> {
    let (lifetimes, events) = (&timeline.lifetimes, &timeline.events);
    let place = |id| Live {
        addr: lifetimes.addr(id, events),
        requested: lifetimes.size(id, events),
        id,
        is_awaiting: lifetimes.requested(id).is_some_and(|requested| requested <= moment),
        survives: lifetimes.end(id).is_none(),
    };
    let mut live: Vec<Live> = lifetimes.live_at(moment).map(place).collect();
    live.sort_unstable_by_key(|block| block.addr);
    live
}
