//! Questions to the model. Every function is pure: it reads the model and returns plain values.
//!
//! This layer knows no text formats, no files and no windows.

mod annotations;
mod call_tree;
mod capacity;
mod clock;
mod frame_names;
mod live;
mod pools;
mod site;
mod site_table;
mod stack_totals;
mod stats;

#[cfg(test)]
pub(crate) mod stacks_fixture;

pub use annotations::{Lanes, NamedRange, lanes};
pub use call_tree::{CallTree, Cut, Direction, NodeIx, TreeOptions};
pub use capacity::capacity;
pub use clock::Clock;
pub use frame_names::{FrameKey, FrameName, FrameNames};
pub use live::{At, MomentError, SiteTotal, live_at, resolve, sites};
pub use pools::{PrivatePool, PrivatePools, private_pools};
pub use site::{SiteFrame, frame_line, is_internal, site_frame, site_label, stack_lines};
pub use site_table::{SiteRow, SiteTable};
pub use stack_totals::{Measure, StackTotal, StackTotals, Totals, WeightUnit, stack_totals};
pub use stats::{DeviceStats, device_stats};
