//! Where the free memory was when a request failed, by the allocator's own rules: a request is served by one piece of its own
//! pool, stream and size class.

use super::code_sites::by_stack;
use crate::finding::StackBytes;
use oomscope_analysis::segment_state::{OtherHoles, Part, RequestFit, SegmentState};
use oomscope_model::{Action, Bytes, EventIx, Moment, PoolKey, Timeline};
use std::collections::BTreeSet;

/// Free memory that had room for a request which failed, by the first rule that kept the request from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FreePiece {
    /// Of its own pool and stream, but it became free only while the request was failing. With the stacks that the memory is of.
    Late { bytes: Bytes, stacks: Vec<StackBytes> },
    /// Of its own pool and stream; nothing in the file says why it was not used.
    Unused { bytes: Bytes },
    /// Of its own pool and stream, but `max_split_size_mb` keeps it for larger requests.
    Kept { bytes: Bytes },
    /// Of another pool, or the other size class.
    OtherPool(OtherHoles),
    /// Of its own pool, but of another stream.
    OtherStream(OtherHoles),
}

impl FreePiece {
    /// Where the memory is; `None` if what is free was in smaller pieces of the request's own pool and stream.
    pub(super) fn of(
        timeline: &Timeline,
        state: &SegmentState,
        fit: &RequestFit,
        oom: EventIx,
    ) -> Option<Self> {
        let bytes = fit.largest_bytes;
        if fit.with_room.is_empty() {
            return if 0 < fit.kept_bytes {
                Some(Self::Kept { bytes: fit.kept_bytes })
            } else {
                Self::elsewhere(fit)
            };
        }
        let late = freed_last(timeline, oom);
        let parts = || fit.with_room.iter().filter_map(|&at| state.parts.get(at));
        let lies_in = |part: &Part, event: EventIx| {
            timeline.events.addr(event).is_some_and(|addr| (part.addr..part.past_end()).contains(&addr))
        };
        if !parts().all(|part| late.iter().any(|&event| lies_in(part, event))) {
            return Some(Self::Unused { bytes });
        }
        let of_parts: BTreeSet<Moment> = late
            .into_iter()
            .filter(|&event| parts().any(|part| lies_in(part, event)))
            .map(Moment::after)
            .collect();
        // The event itself has the stack of the request that waited for it.
        let made = timeline
            .ids()
            .filter(|&id| timeline.lifetimes.end(id).is_some_and(|end| of_parts.contains(&end)));
        Some(Self::Late { bytes, stacks: by_stack(made.map(|id| (timeline.stack(id), timeline.size(id)))) })
    }

    /// The other pool or stream that has room in one piece or, if none has, in all.
    fn elsewhere(fit: &RequestFit) -> Option<Self> {
        let has_piece = |other: &OtherHoles| fit.requested_bytes <= other.largest_bytes;
        let has_enough = |other: &OtherHoles| {
            other.key.class.is_none_or(|class| class == fit.class) && fit.requested_bytes <= other.bytes
        };
        let others = fit.others.iter().filter(|other| has_piece(other) || has_enough(other));
        let other = *others.max_by_key(|other| (has_piece(other), other.largest_bytes, other.bytes))?;
        Some(if is_other_stream(fit, &other) { Self::OtherStream(other) } else { Self::OtherPool(other) })
    }
}

/// Whether nothing but its stream separates free memory from a request. The allocator asks for pool and size class first.
pub(crate) fn is_other_stream(fit: &RequestFit, other: &OtherHoles) -> bool {
    let own = fit.key();
    let is_same_pool = other.key.pool.is_none_or(|pool| own.pool.unwrap_or(PoolKey::DEFAULT) == pool);
    let is_same_class = other.key.class.is_none() || other.key.class == own.class;
    is_same_pool && is_same_class
}

/// The events in which blocks became free right before a request failed. Before it gives up, the allocator waits for blocks
/// that other streams use, but it looks for a free piece only before that: one that was free earlier would have been found.
fn freed_last(timeline: &Timeline, oom: EventIx) -> Vec<EventIx> {
    let before = (0..oom.0).rev().map(EventIx);
    let is_of_waiting =
        |action| matches!(action, Action::SegmentFree | Action::SegmentUnmap | Action::FreeCompleted);
    let waiting = before.take_while(|&event| is_of_waiting(timeline.events.action(event)));
    waiting.filter(|&event| timeline.events.action(event) == Action::FreeCompleted).collect()
}
