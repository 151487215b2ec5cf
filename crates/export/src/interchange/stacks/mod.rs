//! Formats of weighted stacks: one file each.

mod folded;
mod pprof;
mod weights;

pub(super) use folded::folded;
pub(super) use pprof::pprof;
