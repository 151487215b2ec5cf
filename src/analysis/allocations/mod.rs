//! Allocations: which are live at a moment, how long they live, and how a list of them is ordered.

mod allocation_order;
mod life_span;
mod live;

pub use allocation_order::{AllocationSorter, OrderBy};
pub use life_span::LifeSpan;
pub use live::{At, MomentError, SiteTotal, live_at, resolve, sites};
