//! Questions to the model. Every function is pure: it reads the model and returns plain values.
//!
//! This layer knows no text formats, no files and no windows.

mod annotations;
mod capacity;
pub mod filter;
mod gap;
mod live;
mod pools;
mod segment_rows;
mod site;
mod stats;

pub use annotations::{Lanes, NamedRange, lanes};
pub use capacity::capacity;
pub use gap::{Gap, gap_at};
pub use live::{At, MomentError, SiteTotal, live_at, resolve, sites};
pub use pools::{PrivatePool, PrivatePools, private_pools};
pub use segment_rows::{Place, RowOrder, SegmentRow, SegmentRows, Shared};
pub use site::{SiteFrame, frame_line, is_internal, site_frame, site_label, stack_lines};
pub use stats::{DeviceStats, device_stats};
