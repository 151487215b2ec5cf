//! Questions to the model. Every function is pure: it reads the model and returns plain values.
//!
//! This layer knows no text formats, no files and no windows.

mod live;
mod stats;

pub use live::{At, MomentError, SiteTotal, live_at, resolve, sites};
pub use stats::{DeviceStats, device_stats};
