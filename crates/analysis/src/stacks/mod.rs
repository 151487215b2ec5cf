//! Stacks: the names of frames and allocation sites, the call tree, and totals by stack and by site.

mod by_function;
mod call_tree;
mod frame_names;
pub(super) mod language;
pub(super) mod native_frame;
pub(super) mod site;
mod site_frame;
mod site_table;
mod stack_labels;
mod stack_totals;

pub use by_function::by_function;
pub use call_tree::{CallTree, Cut, Direction, NodeIx, TreeOptions};
pub use frame_names::{FrameKey, FrameName, FrameNames};
pub use language::is_python;
pub use site::{NO_STACK, Owner, frame_line, is_internal, owner, site_label, site_place, stack_lines};
pub use site_frame::{SiteFrame, site_frame};
pub use site_table::{SiteRow, SiteTable};
pub use stack_labels::StackLabels;
pub use stack_totals::{
    ClassWeight, Measure, StackTotal, StackTotals, Totals, WeightUnit, class_weights, stack_totals,
};
