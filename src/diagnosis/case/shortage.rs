//! A request that could not be met, in figures.

use super::where_free::FreePiece;
use crate::analysis::segment_state::{Basis, RequestFit, SegmentIndex, SegmentState};
use crate::model::allocator_sizes::{mapped_size, segment_size};
use crate::model::{OomEvent, Snapshot, Timeline};
use crate::simulator::{ExpandableSegments, Settings};

/// The memory that there was, and that was needed, when a request failed.
///
/// All figures are bytes at the moment after the OOM event, when the allocator had given back all that it could.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::diagnosis) struct Shortage {
    /// The OOM.
    pub(in crate::diagnosis) oom: OomEvent,
    /// Bytes of the segment, or of the pages of an expandable one, that the driver would have been asked for.
    pub(in crate::diagnosis) needed_bytes: i64,
    /// Whether they are pages of expandable segments.
    pub(in crate::diagnosis) maps_pages: bool,
    /// Reserved from the driver.
    pub(in crate::diagnosis) reserved_bytes: i64,
    /// In blocks that are in use or wait for a stream, with rounding.
    pub(in crate::diagnosis) active_bytes: i64,
    /// In blocks that wait for a stream, with rounding.
    pub(in crate::diagnosis) awaiting_bytes: i64,
    /// Reserved and in no block.
    pub(in crate::diagnosis) hole_bytes: i64,
    /// The holes that the request could use.
    pub(in crate::diagnosis) fit: RequestFit,
    /// A free piece that had room for it.
    pub(in crate::diagnosis) free_piece: Option<FreePiece>,
    /// Whether holes may be smaller than they look, since the events do not tell what a block takes beyond its request.
    pub(in crate::diagnosis) has_slack: bool,
    /// Whether reserved and active bytes include the memory from before the recording.
    pub(in crate::diagnosis) is_complete: bool,
}

impl Shortage {
    /// Look at the state after an OOM.
    pub(in crate::diagnosis) fn new(
        snapshot: &Snapshot,
        timeline: &Timeline,
        index: &SegmentIndex,
        state: &SegmentState,
        oom: OomEvent,
    ) -> Self {
        let total = &state.total;
        let settings = Settings::recorded(snapshot);
        let expands = ExpandableSegments::of(snapshot, timeline) == ExpandableSegments::InEffect;
        let shared_segment = i64::try_from(settings.large_segment_bytes).unwrap_or(i64::MAX);
        let fit = state.fit(index, timeline, &oom);
        let needed_bytes = if expands {
            mapped_size(oom.requested, fit.extensible_bytes, shared_segment)
        } else {
            segment_size(oom.requested, shared_segment)
        };
        Self {
            oom,
            needed_bytes,
            maps_pages: expands,
            reserved_bytes: total.reserved_bytes,
            active_bytes: total.active_rounded_bytes(),
            awaiting_bytes: total.awaiting_rounded_bytes,
            hole_bytes: total.hole_bytes,
            free_piece: FreePiece::of(timeline, state, &fit, oom.event),
            has_slack: state.basis != Basis::EndState,
            fit,
            is_complete: state.basis != Basis::TraceOnly,
        }
    }

    /// Bytes that the device had left, where they were recorded.
    pub(in crate::diagnosis) fn free_bytes(&self) -> Option<i64> {
        self.oom.device_free.filter(|&free| 0 <= free)
    }

    /// Bytes that the allocator could have had on the device: those that it had, and those that were left.
    pub(in crate::diagnosis) fn available_bytes(&self) -> Option<i64> {
        self.free_bytes().map(|free| free.saturating_add(self.reserved_bytes))
    }

    /// Whether the device had enough left, so that something else refused.
    pub(in crate::diagnosis) fn is_refused_by_limit(&self) -> bool {
        self.free_bytes().is_some_and(|free| self.needed_bytes <= free)
    }

    /// Bytes that the device lacked for the segment.
    pub(in crate::diagnosis) fn missing_bytes(&self) -> Option<i64> {
        self.free_bytes().map(|free| self.needed_bytes.saturating_sub(free).max(0))
    }

    /// Whether the segment would have fitted on the device with `bytes` more.
    pub(in crate::diagnosis) fn is_covered_by(&self, bytes: i64) -> bool {
        self.missing_bytes().is_some_and(|missing| missing <= bytes)
    }

    /// The free piece that had room, if it says why the request failed: one of its own pool and stream or, where its own would
    /// not have been enough even in one piece, one of another.
    pub(in crate::diagnosis) fn decisive_piece(&self) -> Option<FreePiece> {
        let excess = self.excess_bytes()?;
        self.free_piece.filter(|piece| match piece {
            FreePiece::Late { .. } | FreePiece::Unused { .. } => true,
            FreePiece::Elsewhere(_) => excess <= 0 && 0 < excess.saturating_add(self.fit.other_bytes),
        })
    }

    /// Bytes in use that were too many for the request to fit if there were no holes; negative if it would have fitted.
    /// Where a limit refused the request, the reserved bytes count as all that was allowed.
    pub(in crate::diagnosis) fn excess_bytes(&self) -> Option<i64> {
        let available =
            if self.is_refused_by_limit() { self.reserved_bytes } else { self.available_bytes()? };
        Some(self.active_bytes.saturating_add(self.oom.requested).saturating_sub(available))
    }
}
