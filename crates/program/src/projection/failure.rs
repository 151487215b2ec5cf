//! The request that ended a program.

use super::course::Unprojected;
use super::likeness::ROUNDING;
use oomscope_model::{Action, AllocId, Bytes, EventIx, Timeline};

/// The request that ended a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failure {
    /// Its `oom` event.
    pub(super) event: EventIx,
    /// Bytes, rounded up to a block size.
    pub(super) bytes: Bytes,
}

impl Failure {
    /// The request that failed, if nothing was asked for after it.
    ///
    /// # Errors
    /// None failed, or the program went on after one that did.
    pub(super) fn of(timeline: &Timeline) -> Result<Self, Unprojected> {
        let oom = match timeline.ooms[..] {
            [] => return Err(Unprojected::Complete),
            [oom] => oom,
            // What it did after the first would have been something else, had that been met.
            _ => return Err(Unprojected::WentOn),
        };
        let events = &timeline.events;
        let mut later = (oom.event.0 + 1..events.len() as u32).map(EventIx);
        if later.any(|event| events.action(event) == Action::Alloc) {
            return Err(Unprojected::WentOn);
        }
        Ok(Self { event: oom.event, bytes: oom.requested })
    }

    /// Whether it may have been for so many bytes: they were rounded when it failed.
    pub(super) fn is_for(&self, bytes: u64) -> bool {
        bytes.div_ceil(ROUNDING) * ROUNDING == self.bytes.unsigned_abs()
    }

    /// Whether it failed while an allocation was there, or before it was made.
    pub(super) fn is_before_end_of(&self, timeline: &Timeline, id: AllocId) -> bool {
        timeline.lifetimes.end(id).is_none_or(|end| self.event.0 < end.0)
    }
}
