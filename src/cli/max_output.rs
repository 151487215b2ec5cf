//! `--max-output`: how much a command may write about a recording, so that a small file whose rows share long texts and stacks
//! cannot fill a disk.

use super::out_of_proportion::OutOfProportion;
use super::output::Output;
use super::select::{Opened, parse_bytes};
use clap::Args;
use oomscope_model::Bytes;
use oomscope_snapshot::load::FileStamp;
use std::io::{self, Write};

/// Bytes that may be written about any recording, and for each byte of its file beyond that: as many as a file may expand to
/// when it is read.
const BASE_BYTES: u64 = 1 << 30;
const BYTES_PER_STORED_BYTE: u64 = 1000;

/// `--max-output`.
#[derive(Debug, Args)]
pub(super) struct MaxOutput {
    /// Limit the size of the output, such as 100GiB
    ///
    /// The default is 1 GiB plus 1,000 bytes for each byte of the stored file.
    #[arg(id = "max-output", long = "max-output", value_name = "SIZE", value_parser = parse_bytes)]
    bytes: Option<Bytes>,
}

/// What is left to be written.
#[derive(Debug)]
pub(super) struct Budget {
    limit: u64,
    left: u64,
}

impl MaxOutput {
    /// What may be written about a recording.
    pub(super) fn budget(&self, recording: &Opened<'_>) -> Budget {
        // What came through a pipe counts as it was decompressed.
        let stored =
            FileStamp::of(recording.file).map_or(recording.snapshot.pickle_bytes, |file| file.bytes());
        let of_file = BASE_BYTES.saturating_add(stored.saturating_mul(BYTES_PER_STORED_BYTE));
        let limit = self.bytes.map_or(of_file, |bytes| bytes.as_u64());
        Budget { limit, left: limit }
    }
}

impl Budget {
    /// An output that takes from it.
    pub(super) fn within<'o>(&'o mut self, out: &'o mut Output) -> Within<'o> {
        Within { budget: self, out }
    }
}

/// An output that ends with an error where too much is written.
#[derive(Debug)]
pub(super) struct Within<'o> {
    budget: &'o mut Budget,
    out: &'o mut Output,
}

impl Write for Within<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(left) = self.budget.left.checked_sub(bytes.len() as u64) else {
            return Err(io::Error::other(OutOfProportion(self.budget.limit)));
        };
        let written = self.out.write(bytes)?;
        self.budget.left = left.saturating_add((bytes.len() - written) as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
