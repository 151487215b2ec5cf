//! The error of an output that would be out of proportion to its recording.

use oomscope_units as units;
use std::io;
use thiserror::Error;

/// More would be written than may be.
#[derive(Debug, Error)]
#[error("it would be larger than {}, out of proportion to the recording", units::bytes(.0.cast_signed()))]
pub(super) struct OutOfProportion(pub(super) u64);

impl OutOfProportion {
    /// A way out.
    pub(super) const HINT: &'static str =
        "ask for less with --table, --range or --filter, or allow more with --max-output SIZE";

    /// The cause of an error, if it is this one.
    pub(super) fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}
