//! Analyses of the model. Every function is pure: it reads the model and returns plain values.
//!
//! This package knows no text formats, no files and no windows.
//!
//! ```
//! use oomscope_snapshot::load::{Input, Progress, load};
//! use oomscope_analysis::{Attribution, UserRules};
//! use oomscope_model::{AllocId, Recording};
//! use std::sync::Arc;
//!
//! let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sample_snapshots/frag_oom.pickle");
//! let snapshot = Arc::new(load(&Input::File(sample.into()), &Progress::default())?);
//! let recording = Recording::main(&snapshot).ok_or("no device")?;
//! let attribution = Attribution::of(&recording, &UserRules::default());
//! println!("the first allocation is for {:?}", attribution.categories.get(AllocId(0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod allocations;
mod annotated;
mod attribution;
pub mod comparison;
mod events;
pub mod filter;
mod held_by;
mod inferred_part;
mod iteration_table;
mod lanes;
#[cfg(test)]
mod long_names_tests;
mod modules;
mod named;
mod printable;
mod ranges;
mod segments;
mod series;
mod stacks;
mod stats;
mod tensor_labels;
mod text_order;

pub use allocations::{
    AllocationSorter, At, FittingTensor, LifeSpan, MomentError, OrderBy, SiteTotal, fitting_tensors, live_at,
    sites, tensors_text,
};
pub use attribution::{
    Attribution, Basis, Because, Blocks, Categories, Category, CategoryBytes, Channel, Claim, EvidenceKind,
    Facts, FrameCode, Iteration, Iterations, ModelCall, Phase, PhaseBasis, PhaseStart, Phases, Position,
    RULES, Rule, RuleId, Stratum, TorchOperation, UnseenStacks, UserRules, UserRulesError, Verdict,
    declared_category, is_named_after_evaluation, named_module, named_step_and_phase, path_in_torch,
};
pub use events::{Clock, EventMatches, EventSet, same_event};
pub use held_by::HeldBy;
pub use inferred_part::InferredPart;
pub use iteration_table::{IterationRow, iteration_table};
pub use lanes::{Lanes, NamedRange, RangeName, annotation_ranges, lanes, structure_lanes};
pub use modules::{
    MODULE_COLUMNS, ModuleBytes, ModulePlace, ModuleRow, ModuleTable, module_labels, module_table,
};
pub use named::{holder_text, named_tensors, shape_text, tensor_name, tensor_text};
pub use printable::{printable, printable_lines, recorded};
pub use ranges::{Amount, EventRanges, MomentRange, RangeQuery, RangeSums, range_sums};
pub use segments::{
    Gap, HolesAt, PoolStats, PrivatePool, PrivatePools, RowOffset, RowOrder, RowSites, SegmentIndex,
    SegmentRow, SegmentRows, SegmentState, Shared, capacity, gap_at, holes_at, pool_stats, private_pools,
    segment_state,
};
pub use series::{SeriesColumn, series};
pub use stacks::by_function;
pub use stacks::{
    CallTree, ClassWeight, Cut, Direction, FrameKey, FrameName, FrameNames, Measure, NO_STACK, NodeIx, Owner,
    SiteFrame, SiteRow, SiteTable, StackLabels, StackTotal, StackTotals, Totals, TreeOptions, WeightUnit,
    class_weights, frame_line, is_internal, is_python, owner, site_frame, site_label, site_place,
    stack_lines, stack_totals,
};
pub use stats::{DeviceStats, device_stats};
pub use tensor_labels::{BlockTensors, TensorLabels, tensor_and_site};
