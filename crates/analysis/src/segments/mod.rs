//! Segments and pools: reserved memory, the places of allocations in it, and the free memory between them.

pub(super) mod address_order;
mod capacity;
mod gap;
mod holes_over_time;
mod pool_stats;
pub(super) mod pools;
mod row_sites;
mod segment_rows;
pub mod segment_state;

pub use capacity::capacity;
pub use gap::{Gap, gap_at};
pub use holes_over_time::{HolesAt, holes_at};
pub use pool_stats::{PoolStats, pool_stats};
pub use pools::{PrivatePool, PrivatePools, private_pools};
pub use row_sites::RowSites;
pub use segment_rows::{RowOffset, RowOrder, SegmentRow, SegmentRows, Shared};
pub use segment_state::{SegmentIndex, SegmentState};
