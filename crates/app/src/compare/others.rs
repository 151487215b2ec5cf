//! The devices that can be compared with the one that is shown: those of all open files.

use crate::device::attributing::AttributionCell;
use oomscope_analysis::{MomentRange, StackLabels};
use oomscope_model::{Moment, Recording};
use std::sync::Arc;

/// A device of an open file.
#[derive(Clone)]
pub(crate) struct Other {
    /// The file's name, with the device where the file has several.
    pub(crate) title: String,
    pub(crate) recording: Recording,
    /// The sites of its stacks, once they are put together.
    pub(crate) sites: Option<Arc<StackLabels>>,
    pub(crate) attribution: AttributionCell,
    /// Where its cursor is.
    pub(crate) cursor: Moment,
    /// The range that is marked.
    pub(crate) range: Option<MomentRange>,
}

impl Other {
    /// How much of the code of both is the same, from 0 to 1: of all lines that allocate, those that do so in both.
    pub(super) fn likeness(&self, other: &Self) -> f64 {
        let Some((a, b)) = self.sites.as_ref().zip(other.sites.as_ref()) else { return 0.0 };
        a.likeness(b)
    }
}
