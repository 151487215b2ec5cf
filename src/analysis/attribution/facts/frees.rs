//! The moment at which the program frees an allocation.

use crate::model::{AllocId, EventIx, Lifetimes, Moment};

/// The first moment at which the program has freed an allocation; `None` if it never does. The allocator may keep the
/// block a while longer, until another stream no longer uses it: that says nothing of the program.
pub(in crate::analysis) fn free_moment(lifetimes: &Lifetimes, id: AllocId) -> Option<Moment> {
    lifetimes.requested(id).or(lifetimes.end(id))
}

/// The event at which the program frees an allocation.
pub(in crate::analysis) fn free_event(lifetimes: &Lifetimes, id: AllocId) -> Option<EventIx> {
    free_moment(lifetimes, id).and_then(Moment::event)
}
