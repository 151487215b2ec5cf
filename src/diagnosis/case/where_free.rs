//! Where the free memory was when a request failed, by the allocator's own rules: a request is served by one piece of its own
//! pool, stream and size class.

use crate::analysis::segment_state::{OtherHoles, Part, RequestFit, SegmentState};
use crate::model::{Action, EventIx, Timeline};

/// A free piece that had room for a request which failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::diagnosis) enum FreePiece {
    /// Of its own pool and stream, but it became free only while the request was failing.
    Late { bytes: i64 },
    /// Of its own pool and stream; nothing in the file says why it was not used.
    Unused { bytes: i64 },
    /// Of another pool, another stream or the other size class.
    Elsewhere(OtherHoles),
}

impl FreePiece {
    /// The piece that had room; `None` if free memory was in smaller pieces.
    pub(super) fn of(
        timeline: &Timeline,
        state: &SegmentState,
        fit: &RequestFit,
        oom: EventIx,
    ) -> Option<Self> {
        let bytes = fit.largest_bytes;
        if fit.with_room.is_empty() {
            return fit.elsewhere.map(Self::Elsewhere);
        }
        let late = freed_last(timeline, oom);
        let is_late = |part: &Part| late.iter().any(|addr| (part.addr..part.past_end()).contains(addr));
        let are_late = fit.with_room.iter().filter_map(|&at| state.parts.get(at)).all(is_late);
        Some(if are_late { Self::Late { bytes } } else { Self::Unused { bytes } })
    }
}

/// Addresses of the blocks that became free right before a request failed. Before it gives up, the allocator waits for blocks
/// that other streams use, but it looks for a free piece only before that: one that was free earlier would have been found.
fn freed_last(timeline: &Timeline, oom: EventIx) -> Vec<u64> {
    let events = &timeline.events;
    let mut late = Vec::new();
    for ix in (0..oom.0).rev().map(EventIx) {
        match events.action(ix) {
            Action::SegmentFree | Action::SegmentUnmap => {}
            Action::FreeCompleted => late.extend(events.addr(ix)),
            _ => break,
        }
    }
    late
}
