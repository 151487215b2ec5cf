//! The live allocations that the table of modules is about.

use crate::{Categories, Category};
use oomscope_model::{AllocId, Bytes, Moment, StackId, Timeline};

/// The categories that are told by module, in the order of columns.
pub const MODULE_COLUMNS: [Category; 4] =
    [Category::Parameter, Category::Gradient, Category::OptimizerState, Category::Activation];

/// A live allocation of one of the columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Live {
    pub(super) id: AllocId,
    pub(super) column: usize,
    pub(super) size: Bytes,
    pub(super) stack: StackId,
}

/// The allocations of the columns that are live at a moment, in allocation order.
pub(super) fn live_at(timeline: &Timeline, categories: &Categories, moment: Moment) -> Vec<Live> {
    let live = timeline.lifetimes.live_at(moment).filter_map(|id| {
        let category = categories.get(id);
        let column = MODULE_COLUMNS.iter().position(|&column| column == category)?;
        Some(Live { id, column, size: timeline.size(id), stack: timeline.stack(id) })
    });
    live.collect()
}

/// Sizes of a file may add up to more than any number holds.
pub(super) fn add(total: &mut Bytes, bytes: Bytes) {
    *total += bytes;
}
