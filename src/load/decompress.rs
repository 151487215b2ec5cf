//! Decompressors that hand over all that they decoded before an error.
//!
//! The libraries' own readers return an error in place of the bytes that the same call has decoded: up to a whole buffer.

use liblzma::stream::{Action, CONCATENATED, Status, Stream};
use std::io::{self, BufRead, Read};

/// A reader of xz streams that follow one another. What was decoded before an error comes first, to the byte.
pub(super) struct Xz<R> {
    input: R,
    stream: Stream,
    failure: Option<liblzma::stream::Error>,
}

impl<R: BufRead> Xz<R> {
    pub(super) fn new(input: R) -> io::Result<Self> {
        let stream = Stream::new_auto_decoder(u64::MAX, CONCATENATED)?;
        Ok(Self { input, stream, failure: None })
    }

    /// Decode as much as one call does: the bytes written to `out`, and whether the input has ended.
    fn step(&mut self, out: &mut [u8]) -> io::Result<(usize, bool)> {
        let input = self.input.fill_buf()?;
        let is_end = input.is_empty();
        let [in_before, out_before] = [self.stream.total_in(), self.stream.total_out()];
        let status = self.stream.process(input, out, if is_end { Action::Finish } else { Action::Run });
        let consumed = (self.stream.total_in() - in_before) as usize;
        let written = (self.stream.total_out() - out_before) as usize;
        self.input.consume(consumed);
        match status {
            Ok(Status::StreamEnd) => Ok((written, true)),
            Ok(_) if 0 < written || (0 < consumed && !is_end) => Ok((written, false)),
            // No progress. It ends too early, or is stuck.
            Ok(_) if is_end => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => Err(io::ErrorKind::InvalidData.into()),
            Err(error) => {
                self.failure = Some(error);
                Ok((written, false))
            }
        }
    }
}

impl<R: BufRead> Read for Xz<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !out.is_empty() {
            if let Some(error) = self.failure {
                return Err(error.into());
            }
            let (written, is_end) = self.step(out)?;
            if 0 < written || is_end {
                return Ok(written);
            }
        }
        Ok(0)
    }
}

/// Most bytes that a call of [`InSteps`] asks for, and so that an error may take with it. The usual tools lose a
/// buffer of 32 KiB (gzip) or 128 KiB (zstd).
const STEP_BYTES: usize = 4 << 10;

/// A decompressor that is asked for few bytes at a time, so that an error takes few with it.
pub(super) struct InSteps<R>(pub(super) R);

impl<R: Read> Read for InSteps<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let end = out.len().min(STEP_BYTES);
        self.0.read(&mut out[..end])
    }
}

#[cfg(test)]
#[path = "decompress_tests.rs"]
mod tests;
