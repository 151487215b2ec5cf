//! A snapshot, or a part of it, as a pickle with torch's keys.
//!
//! Each distinct text, frame and stack is written once and referred to wherever it is used again, as in the files that
//! torch writes, so that a reader of the pickle shares them, too.

mod census;
mod output;
mod part;
mod records;
mod tensors;
#[cfg(test)]
mod tests;

pub use part::{AsRecorded, DevicePart, EventRows, RecorderPart, Rewrite, SnapshotPart, TextKind};

use output::Output;
use std::io::{self, Write};

/// Write a part of a snapshot as a pickle.
///
/// # Errors
/// Those of `out`.
pub fn write_pickle<W: Write>(out: W, part: &SnapshotPart<'_>) -> io::Result<W> {
    let mut output = Output::new(out, part)?;
    output.snapshot()?;
    output.finish()
}
