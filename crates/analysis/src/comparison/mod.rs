//! Two moments side by side: of two recordings, of two devices, or of one device.
//!
//! `compare` gives every live allocation of both sides a [`Cell`]: its category, its line of code, its operator, its module, its
//! pool and stream. All but categories are those of both sides, matched across edits of the program. All tables are sums
//! of cells, so they add up: the changes by category, with what is judged differently, are the difference of the totals.
//!
//! - `lines` and `files` match code of two programs, with `numbers` for the lines of one function.
//! - `live` reads one side, `cells` puts both together.
//! - `operators` names what asked for memory as both sides can tell it, from the stacks that `stack_operators` reads.
//! - `restated` finds memory that both sides have and that different rules judge.
//! - `causes` says in which categories, modules and lines most of the difference lies.
//! - `curves` puts two recordings on one axis; `ranges` finds annotations by which they can be aligned.
//! - `stacks` puts the stacks of both into one tree.

mod causes;
mod cells;
mod compare;
mod curves;
mod files;
mod gate;
mod lines;
mod live;
mod modules;
mod numbers;
mod operators;
#[cfg(test)]
mod operators_tests;
mod pools;
mod portion;
mod ranges;
mod restated;
mod settings;
mod side;
mod sites;
mod stack_operators;
mod stacks;

#[cfg(test)]
mod tests;

pub use causes::{Cause, CausePlace};
pub use cells::Cell;
pub use compare::{Comparison, Figures, compare};
pub use curves::{AlignBy, Aligned, AlignedColumn};
pub use gate::{GateItem, GateRow, PeakSummary, held_against, peak_summary};
pub use lines::{CodeLine, match_lines};
pub use live::Since;
pub use modules::{ModulePair, ModulePairKind};
pub use pools::{PoolPair, PoolStream};
pub use portion::{BothSides, Change, Portion};
pub use ranges::{CommonRange, common_ranges};
pub use restated::Restated;
pub use settings::SettingChange;
pub use side::Side;
pub use sites::LinePair;
pub use stack_operators::Operator;
pub use stacks::{StackChanges, StackPair, compare_stacks};
