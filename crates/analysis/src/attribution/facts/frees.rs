//! The event at which the program frees an allocation.

use oomscope_model::{AllocId, EventIx, Lifetimes, Moment};

/// The event at which the program frees an allocation. The allocator may keep the block a while longer, until another
/// stream no longer uses it: that says nothing of the program.
#[inline]
pub(crate) fn free_event(lifetimes: &Lifetimes, id: AllocId) -> Option<EventIx> {
    lifetimes.gone(id).and_then(Moment::event)
}
