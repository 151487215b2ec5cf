//! The index of a timeline's segment maps, and the map of one moment.

use super::builder::Builder;
use super::segment_classes::SegmentClasses;
use super::split_rule::SplitRule;
use super::state::{Basis, SegmentState};
use super::tiling::{Live, Tiling};
use super::{end, reserved};
use oomscope_model::{Anchor, BlockState, Bytes, DeviceId, Moment, Recording, Timeline};

/// The facts that all segment maps of a timeline share. Built once for a timeline.
#[derive(Debug, Clone)]
pub struct SegmentIndex {
    /// Address and size, with rounding, of the blocks of the end state, by address.
    survivors: Vec<(u64, Bytes)>,
    /// The size class of each final segment.
    classes: SegmentClasses,
    /// Largest distance in bytes between runs of one expandable segment: the peak of reserved memory.
    /// Gaps are mostly pages that were mapped before, so they are rarely wider.
    max_gap_bytes: Bytes,
    /// True if the file mentions a private pool.
    pub(super) has_private_pools: bool,
    /// The rule by which the allocator does not split some holes.
    pub(super) split: SplitRule,
}

impl SegmentIndex {
    /// The index of a recording.
    pub fn new(recording: &Recording) -> Self {
        let blocks = recording.segments.blocks.iter().filter(|block| block.state != BlockState::Inactive);
        let mut survivors: Vec<(u64, Bytes)> = blocks.map(|block| (block.addr, block.size)).collect();
        survivors.sort_unstable();
        survivors.dedup_by_key(|block| block.0);
        Self {
            survivors,
            classes: SegmentClasses::new(recording),
            max_gap_bytes: recording.reserved.peak().1,
            has_private_pools: recording.pools().iter().any(|pool| pool.is_private()),
            split: SplitRule::new(recording.snapshot()),
        }
    }

    /// The segment map at a moment of the timeline that the index was made for.
    pub fn at(&self, timeline: &Timeline, moment: Moment) -> SegmentState {
        let is_last = timeline.moments() <= moment.index() + 1;
        let live = live_by_address(timeline, moment);
        let mut builder = Builder::new(self.has_private_pools);
        let basis = match timeline.anchor {
            Anchor::EndState if is_last => {
                end::tile(&mut builder, &self.classes, self.max_gap_bytes, timeline, &live);
                Basis::EndState
            }
            anchor => {
                let is_host = timeline.device == DeviceId::HOST;
                let runs = reserved::runs(&self.classes, self.max_gap_bytes, timeline, moment);
                let survivors = if anchor == Anchor::EndState { &self.survivors[..] } else { &[] };
                Tiling { builder: &mut builder, live: &live, survivors, is_host }.tile(&runs);
                if anchor == Anchor::EndState { Basis::Events } else { Basis::TraceOnly }
            }
        };
        builder.finish(moment, basis, timeline.reserved.at(moment))
    }
}

/// The live allocations by address.
fn live_by_address(timeline: &Timeline, moment: Moment) -> Vec<Live> {
    let lifetimes = &timeline.lifetimes;
    let place = |id| Live {
        addr: timeline.addr(id),
        requested: timeline.size(id),
        id,
        is_awaiting: lifetimes.requested(id).is_some_and(|requested| requested <= moment),
        survives: lifetimes.end(id).is_none(),
    };
    let mut live: Vec<Live> = lifetimes.live_at(moment).map(place).collect();
    live.sort_unstable_by_key(|block| block.addr);
    live
}
