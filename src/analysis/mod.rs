//! Questions to the model. Every function is pure: it reads the model and returns plain values.
//!
//! This layer knows no text formats, no files and no windows.

mod live;
mod segment_rows;
mod site;
mod stats;

pub use live::{At, MomentError, SiteTotal, live_at, resolve, sites};
pub use segment_rows::{Place, RowOrder, SegmentRow, SegmentRows, Shared};
pub use site::{SiteFrame, frame_line, is_internal, site_frame, site_label, stack_lines};
pub use stats::{DeviceStats, device_stats};
