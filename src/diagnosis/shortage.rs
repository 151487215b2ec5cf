//! A request that could not be met, in figures.

use crate::analysis::segment_state::{Basis, RequestFit, SegmentIndex, SegmentState};
use crate::model::allocator_sizes::segment_size;
use crate::model::{OomEvent, Snapshot, Timeline};
use crate::simulator::Settings;

/// What there was, and what was needed, when a request failed. All figures are in bytes, at the
/// moment after the OOM event: the allocator had given back all that it could.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortage {
    /// The OOM.
    pub oom: OomEvent,
    /// What the driver would have been asked for: the request, rounded to a segment.
    pub needed_bytes: i64,
    /// Reserved from the driver.
    pub reserved_bytes: i64,
    /// Blocks that are in use or wait for a stream, with rounding.
    pub active_bytes: i64,
    /// Those of them that wait for a stream.
    pub awaiting_bytes: i64,
    /// Reserved and in no block.
    pub hole_bytes: i64,
    /// The holes that the request could use.
    pub fit: RequestFit,
    /// Whether reserved and active bytes are those of all memory, not only of what the events tell.
    pub is_complete: bool,
}

impl Shortage {
    /// Look at the state after an OOM.
    pub(super) fn new(
        snapshot: &Snapshot,
        timeline: &Timeline,
        index: &SegmentIndex,
        state: &SegmentState,
        oom: OomEvent,
    ) -> Self {
        let total = &state.total;
        let shared_segment = Settings::recorded(snapshot).large_segment_bytes;
        let shared_segment = i64::try_from(shared_segment).unwrap_or(i64::MAX);
        Self {
            oom,
            needed_bytes: segment_size(oom.requested, shared_segment),
            reserved_bytes: total.reserved_bytes,
            active_bytes: total.active_rounded_bytes(),
            awaiting_bytes: total.awaiting_rounded_bytes,
            hole_bytes: total.hole_bytes,
            fit: state.fit(index, timeline, &oom),
            is_complete: state.basis != Basis::TraceOnly,
        }
    }

    /// What the device had left, where it was recorded.
    pub fn free_bytes(&self) -> Option<i64> {
        self.oom.device_free.filter(|&free| 0 <= free)
    }

    /// What the allocator could have had on the device: what it had, and what was left.
    pub fn available_bytes(&self) -> Option<i64> {
        self.free_bytes().map(|free| free.saturating_add(self.reserved_bytes))
    }

    /// Whether the device had more left than was needed, so that something else refused.
    pub fn is_refused_by_limit(&self) -> bool {
        self.free_bytes().is_some_and(|free| self.needed_bytes <= free)
    }

    /// What the device lacked for the segment.
    pub fn missing_bytes(&self) -> Option<i64> {
        self.free_bytes().map(|free| self.needed_bytes.saturating_sub(free).max(0))
    }

    /// How much must not be in use for the request to fit if there were no holes; negative if it
    /// would have fitted. Where a limit refused, what is reserved counts as all that was allowed.
    pub fn excess_bytes(&self) -> Option<i64> {
        let available =
            if self.is_refused_by_limit() { self.reserved_bytes } else { self.available_bytes()? };
        Some(self.active_bytes.saturating_add(self.oom.requested).saturating_sub(available))
    }
}
