//! Questions to the model. Every function is pure: it reads the model and returns plain values.
//!
//! This layer knows no text formats, no files and no windows.

mod address_order;
mod allocation_order;
mod annotations;
mod attribution;
mod call_tree;
mod capacity;
mod clock;
mod event_matches;
mod event_set;
pub mod filter;
mod frame_names;
mod gap;
mod life_span;
mod live;
mod named_spans;
mod native_frame;
mod pool_stats;
mod pools;
mod same_event;
mod segment_rows;
pub mod segment_state;
mod site;
mod site_labels;
mod stats;

#[cfg(test)]
pub(crate) mod table_fixture;

pub use allocation_order::{AllocationSorter, OrderBy};
mod site_table;
mod stack_totals;

#[cfg(test)]
pub(crate) mod stacks_fixture;

#[cfg(test)]
pub(crate) use attribution::fixture as program_fixture;

pub use annotations::{Lanes, NamedRange, RangeName, lanes, structure_lanes};
pub use attribution::{
    Attribution, Basis, Because, Blocks, Categories, Category, CategoryBytes, Channel, Claim, EvidenceKind,
    Facts, Iteration, Iterations, ModelCall, Phase, PhaseBasis, PhaseStart, Phases, Position, RULES, Rule,
    RuleId, Stratum, UserRules, UserRulesError, Verdict,
};
pub use call_tree::{CallTree, Cut, Direction, NodeIx, TreeOptions};
pub use capacity::capacity;
pub use clock::Clock;
pub use event_matches::EventMatches;
pub use event_set::EventSet;
pub use frame_names::{FrameKey, FrameName, FrameNames};
pub use gap::{Gap, gap_at};
pub use life_span::LifeSpan;
pub use live::{At, MomentError, SiteTotal, live_at, resolve, sites};
pub use pool_stats::{PoolStats, pool_stats};
pub use pools::{PrivatePool, PrivatePools, private_pools};
pub use same_event::same_event;
pub use segment_rows::{Place, RowOrder, SegmentRow, SegmentRows, Shared};
pub use segment_state::{SegmentIndex, SegmentState};
pub use site::{Owner, SiteFrame, frame_line, is_internal, owner, site_frame, site_label, stack_lines};
pub use site_labels::SiteLabels;
pub use site_table::{SiteRow, SiteTable};
pub use stack_totals::{Measure, StackTotal, StackTotals, Totals, WeightUnit, stack_totals};
pub use stats::{DeviceStats, device_stats};
