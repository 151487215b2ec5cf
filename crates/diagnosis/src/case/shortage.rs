//! A request that could not be met, in figures.

use super::where_free::{FreePiece, is_other_stream};
use oomscope_analysis::segment_state::{Basis, OtherHoles, RequestFit, SegmentIndex, SegmentState};
use oomscope_model::allocator_sizes::{mapped_size, segment_size};
use oomscope_model::{Bytes, OomEvent, Recording};
use oomscope_simulator::{ExpandableSegments, Settings};

/// The memory that there was, and that was needed, when a request failed.
///
/// All figures are bytes at the moment after the OOM event, when the allocator had given back all that it could.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shortage {
    /// The OOM.
    pub(crate) oom: OomEvent,
    /// Bytes of the segment, or of the pages of an expandable one, that the driver would have been asked for.
    pub(crate) needed_bytes: Bytes,
    /// Whether they are pages of expandable segments.
    pub(crate) maps_pages: bool,
    /// Reserved from the driver.
    pub(crate) reserved_bytes: Bytes,
    /// In blocks that are in use or wait for a stream, with rounding.
    pub(crate) active_bytes: Bytes,
    /// In blocks that wait for a stream, with rounding.
    pub(crate) awaiting_bytes: Bytes,
    /// Reserved and in no block.
    pub(crate) hole_bytes: Bytes,
    /// Free memory of other pools, or of the other size class.
    pub(crate) other_pool_bytes: Bytes,
    /// Free memory of its own pool that is of other streams.
    pub(crate) other_stream_bytes: Bytes,
    /// The holes that the request could use.
    pub(crate) fit: RequestFit,
    /// Free memory that had room for it.
    pub(crate) free_piece: Option<FreePiece>,
    /// Whether holes may be smaller than they look, since the events do not tell what a block takes beyond its request.
    pub(crate) has_slack: bool,
    /// Whether reserved and active bytes include the memory from before the recording.
    pub(crate) is_complete: bool,
}

impl Shortage {
    /// Look at the state after an OOM.
    pub(crate) fn new(
        recording: &Recording,
        index: &SegmentIndex,
        state: &SegmentState,
        oom: OomEvent,
    ) -> Self {
        let total = &state.total;
        let settings = Settings::in_effect(recording);
        let expands = ExpandableSegments::of(recording) == ExpandableSegments::InEffect;
        let shared_segment = Bytes::of_size(settings.large_segment_bytes);
        let fit = state.fit(index, recording, &oom);
        let needed_bytes = if expands {
            mapped_size(oom.requested, fit.extensible_bytes, shared_segment)
        } else {
            segment_size(oom.requested, shared_segment)
        };
        let sum = |is_counted: &dyn Fn(&OtherHoles) -> bool| {
            let counted = fit.others.iter().filter(|other| is_counted(other));
            counted.map(|other| other.bytes).sum::<Bytes>()
        };
        Self {
            oom,
            other_pool_bytes: sum(&|other| !is_other_stream(&fit, other)),
            other_stream_bytes: sum(&|other| is_other_stream(&fit, other)),
            needed_bytes,
            maps_pages: expands,
            reserved_bytes: total.reserved_bytes,
            active_bytes: total.active_rounded_bytes(),
            awaiting_bytes: total.awaiting_rounded_bytes,
            hole_bytes: total.hole_bytes,
            free_piece: FreePiece::of(recording, state, &fit, oom.event),
            has_slack: state.basis != Basis::EndState,
            fit,
            is_complete: state.basis != Basis::TraceOnly,
        }
    }

    /// Bytes that the device had left, where they were recorded.
    pub(crate) fn free_bytes(&self) -> Option<Bytes> {
        self.oom.device_free.filter(|&free| 0 <= free)
    }

    /// Bytes that the allocator could have had on the device: those that it had, and those that were left.
    pub(crate) fn available_bytes(&self) -> Option<Bytes> {
        self.free_bytes().map(|free| free + self.reserved_bytes)
    }

    /// Whether the device had enough left, so that something else refused.
    pub(crate) fn is_refused_by_limit(&self) -> bool {
        self.free_bytes().is_some_and(|free| self.needed_bytes <= free)
    }

    /// Bytes that the device lacked for the segment.
    pub(crate) fn missing_bytes(&self) -> Option<Bytes> {
        self.free_bytes().map(|free| (self.needed_bytes - free).or_zero())
    }

    /// Whether the request would have been met with `bytes` less in use.
    pub(crate) fn is_covered_by(&self, bytes: Bytes) -> bool {
        self.lacking_bytes().is_some_and(|lacking| 0 < lacking && lacking <= bytes)
    }

    /// Bytes that the device lacked for the segment or, where a limit refused it, that were in use beyond the limit.
    pub(crate) fn lacking_bytes(&self) -> Option<Bytes> {
        if self.is_refused_by_limit() { self.excess_bytes() } else { self.missing_bytes() }
    }

    /// The free memory that had room, if it says why the request failed: in one piece or, where its own would not have been
    /// enough even in one piece, in all.
    pub(crate) fn decisive_piece(&self) -> Option<FreePiece> {
        let excess = self.excess_bytes()?;
        let is_decisive = |piece: &FreePiece| match piece {
            FreePiece::Unused { .. } => false,
            FreePiece::Late { .. } | FreePiece::Kept { .. } => true,
            FreePiece::OtherPool(other) | FreePiece::OtherStream(other) => {
                self.fit.requested_bytes <= other.largest_bytes
                    || (excess <= 0 && 0 < excess + self.fit.other_bytes)
            }
        };
        self.free_piece.clone().filter(is_decisive)
    }

    /// Bytes in use that were too many for the request to fit if there were no holes; negative if it would have fitted.
    /// Where a limit refused the request, the reserved bytes count as all that was allowed.
    pub(crate) fn excess_bytes(&self) -> Option<Bytes> {
        let available =
            if self.is_refused_by_limit() { self.reserved_bytes } else { self.available_bytes()? };
        Some((self.active_bytes + self.oom.requested) - available)
    }
}
