//! The devices that can be compared with the one that is shown: those of all open files.

use crate::analysis::MomentRange;
use crate::app::device::attributing::AttributionCell;
use crate::model::{Moment, Recording};

/// A device of an open file.
#[derive(Clone)]
pub(in crate::app) struct Other {
    /// The file's name, with the device where the file has several.
    pub(in crate::app) title: String,
    pub(in crate::app) recording: Recording,
    pub(in crate::app) attribution: AttributionCell,
    /// Where its cursor is.
    pub(in crate::app) cursor: Moment,
    /// The range that is marked.
    pub(in crate::app) range: Option<MomentRange>,
}
