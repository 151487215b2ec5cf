//! Contradictions between events, or between events and the final state.

use std::collections::BTreeMap;

/// A kind of contradiction. Intact files have some, too: torch reads traces and segments under separate
/// locks, and `skip_actions` can leave events out of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anomaly {
    /// An alloc whose block is neither freed later nor live at the end.
    AllocOfBlockNotLiveAfter,
    /// An alloc of another size than the block that is freed later or live at the end.
    AllocSizeDiffers,
    /// A completed free of a block that is live afterwards without an alloc in between.
    FreeCompletedOfBlockLiveAfter,
    /// A requested free whose block never completes and does not wait at the end.
    FreeRequestedWithoutCompletion,
    /// A requested free of a block that is still allocated afterwards.
    FreeRequestedOfBlockStillAllocatedAfter,
    /// A segment that appears although nothing of it is there afterwards, or with another size.
    SegmentAppearsButIsAbsentAfter,
    /// A segment that goes away although some of it is there afterwards.
    SegmentGoesButIsPresentAfter,
    /// Two blocks of the final state at the same address.
    BlocksShareAddress,
    /// A segment of the final state whose blocks do not fill it one after another.
    BlocksDoNotFillSegment,
    /// A block of the final state that is smaller than what was requested of it.
    BlockSmallerThanRequested,
    /// Two segments of the final state that share addresses.
    SegmentsOverlap,
    /// A segment of the final state that states other sums than those of its blocks.
    SegmentSumsDiffer,
    /// An alloc at addresses that are not reserved then.
    AllocOutsideOfSegments,
    /// A time with more in use than reserved.
    MoreInUseThanReserved,
}

impl Anomaly {
    /// The name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Self::AllocOfBlockNotLiveAfter => "alloc_of_block_not_live_after",
            Self::AllocSizeDiffers => "alloc_size_differs",
            Self::FreeCompletedOfBlockLiveAfter => "free_completed_of_block_live_after",
            Self::FreeRequestedWithoutCompletion => "free_requested_without_completion",
            Self::FreeRequestedOfBlockStillAllocatedAfter => "free_requested_of_block_still_allocated_after",
            Self::SegmentAppearsButIsAbsentAfter => "segment_appears_but_is_absent_after",
            Self::SegmentGoesButIsPresentAfter => "segment_goes_but_is_present_after",
            Self::BlocksShareAddress => "blocks_share_address",
            Self::BlocksDoNotFillSegment => "blocks_do_not_fill_segment",
            Self::BlockSmallerThanRequested => "block_smaller_than_requested",
            Self::SegmentsOverlap => "segments_overlap",
            Self::SegmentSumsDiffer => "segment_sums_differ",
            Self::AllocOutsideOfSegments => "alloc_outside_of_segments",
            Self::MoreInUseThanReserved => "more_in_use_than_reserved",
        }
    }

    /// A single case, in words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::AllocOfBlockNotLiveAfter => "an allocation is neither freed nor there at the end",
            Self::AllocSizeDiffers => "an allocation has another size than what is freed or there at the end",
            Self::FreeCompletedOfBlockLiveAfter => "a block is freed and still in use afterwards",
            Self::FreeRequestedWithoutCompletion => "a free never completes and does not wait at the end",
            Self::FreeRequestedOfBlockStillAllocatedAfter => {
                "a block is given back and still allocated afterwards"
            }
            Self::SegmentAppearsButIsAbsentAfter => "a segment appears and is not there afterwards",
            Self::SegmentGoesButIsPresentAfter => "a segment goes and is still there afterwards",
            Self::BlocksShareAddress => "two blocks have the same address",
            Self::BlocksDoNotFillSegment => "the blocks of a segment do not add up to it",
            Self::BlockSmallerThanRequested => "a block is smaller than what was requested of it",
            Self::SegmentsOverlap => "two segments overlap",
            Self::SegmentSumsDiffer => "a segment states other sums than its blocks have",
            Self::AllocOutsideOfSegments => "an allocation lies outside of all segments",
            Self::MoreInUseThanReserved => "more is in use than reserved",
        }
    }

    /// True if the contradiction is about blocks in the trace, as opposed to segments or the end state.
    pub fn is_about_blocks(self) -> bool {
        // The variants about blocks come first.
        self <= Self::FreeRequestedOfBlockStillAllocatedAfter
    }
}

/// The number of contradictions of each kind.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Anomalies {
    counts: BTreeMap<Anomaly, u64>,
}

impl Anomalies {
    pub(super) fn count(&mut self, anomaly: Anomaly) {
        self.add(anomaly, 1);
    }

    pub(super) fn add(&mut self, anomaly: Anomaly, n: u64) {
        if n != 0 {
            *self.counts.entry(anomaly).or_default() += n;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        other.iter().for_each(|(anomaly, n)| self.add(anomaly, n));
    }

    /// The kinds that occur, with their number.
    pub fn iter(&self) -> impl Iterator<Item = (Anomaly, u64)> + '_ {
        self.counts.iter().map(|(&anomaly, &n)| (anomaly, n))
    }

    /// Number of contradictions of all kinds.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }
}
