//! The devices that can be compared with the one that is shown: those of all open files.

use crate::device::attributing::AttributionCell;
use oomscope_analysis::MomentRange;
use oomscope_model::{Moment, Recording};

/// A device of an open file.
#[derive(Clone)]
pub(crate) struct Other {
    /// The file's name, with the device where the file has several.
    pub(crate) title: String,
    pub(crate) recording: Recording,
    pub(crate) attribution: AttributionCell,
    /// Where its cursor is.
    pub(crate) cursor: Moment,
    /// The range that is marked.
    pub(crate) range: Option<MomentRange>,
}
