//! Allocations: the live ones at a moment, life spans, and the order of lists.

mod allocation_order;
mod life_span;
mod live;
mod tensors;

pub use allocation_order::{AllocationSorter, OrderBy};
pub use life_span::LifeSpan;
pub use live::{At, MomentError, SiteTotal, live_at, sites};
pub use tensors::{FittingTensor, fitting_tensors, tensors_text};
