//! Decompressors that hand over all that they decoded before an error.
//!
//! The libraries' own readers return an error in place of the bytes that the same call has decoded: up to a whole buffer.

use super::parts::{Input, PartDecoder};
use flate2::bufread::GzDecoder;
use liblzma::stream::{Action, Status, Stream};
use std::io::{self, BufRead, Read};
use std::mem;
use zstd::stream::raw::{self, InBuffer, Operation as _, OutBuffer};

/// Whether these bytes begin a gzip file.
pub(super) fn is_gzip(head: &[u8]) -> bool {
    head.starts_with(&[0x1f, 0x8b])
}

/// Whether these bytes begin a zstd file: a frame, or one that is skipped.
pub(super) fn is_zstd(head: &[u8]) -> bool {
    matches!(head, [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Whether these bytes begin an xz file.
pub(super) fn is_xz(head: &[u8]) -> bool {
    head.starts_with(&[0xfd, b'7', b'z', b'X', b'Z', 0])
}

impl<R: BufRead> PartDecoder<R> for GzDecoder<Input<R>> {
    const IS_BEGUN: fn(&[u8]) -> bool = is_gzip;

    fn open(input: Input<R>) -> io::Result<Self> {
        Ok(Self::new(input))
    }

    fn input(&mut self) -> &mut Input<R> {
        self.get_mut()
    }

    fn restart(&mut self) -> io::Result<()> {
        let input = mem::take(self.get_mut());
        self.reset(input);
        Ok(())
    }
}

/// A decoder of a zstd frame. Its state is large, so that frames share it.
pub(super) struct Zstd<R> {
    input: Input<R>,
    state: raw::Decoder<'static>,
    is_done: bool,
}

impl<R: BufRead> PartDecoder<R> for Zstd<R> {
    const IS_BEGUN: fn(&[u8]) -> bool = is_zstd;

    fn open(input: Input<R>) -> io::Result<Self> {
        Ok(Self { input, state: raw::Decoder::new()?, is_done: false })
    }

    fn input(&mut self) -> &mut Input<R> {
        &mut self.input
    }

    fn restart(&mut self) -> io::Result<()> {
        self.is_done = false;
        self.state.reinit()
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !out.is_empty() && !self.is_done {
            let input = self.input.fill_buf()?;
            let is_end = input.is_empty();
            let (mut from, mut to) = (InBuffer::around(input), OutBuffer::around(out));
            self.is_done = self.state.run(&mut from, &mut to)? == 0;
            let (consumed, written) = (from.pos(), to.pos());
            self.input.consume(consumed);
            if 0 < written {
                return Ok(written);
            }
            if is_end && !self.is_done {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(0)
    }
}

/// A decoder of an xz stream. What was decoded before an error comes first, to the byte.
pub(super) struct Xz<R> {
    input: Input<R>,
    stream: Stream,
    failure: Option<liblzma::stream::Error>,
    is_done: bool,
}

fn xz_stream() -> io::Result<Stream> {
    Ok(Stream::new_stream_decoder(u64::MAX, 0)?)
}

impl<R: BufRead> PartDecoder<R> for Xz<R> {
    const IS_BEGUN: fn(&[u8]) -> bool = is_xz;

    fn open(input: Input<R>) -> io::Result<Self> {
        Ok(Self { input, stream: xz_stream()?, failure: None, is_done: false })
    }

    fn input(&mut self) -> &mut Input<R> {
        &mut self.input
    }

    fn restart(&mut self) -> io::Result<()> {
        self.is_done = false;
        self.stream = xz_stream()?;
        Ok(())
    }
}

impl<R: BufRead> Xz<R> {
    /// Decode as much as one call does: the bytes written to `out`.
    fn step(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let input = self.input.fill_buf()?;
        let is_end = input.is_empty();
        let [in_before, out_before] = [self.stream.total_in(), self.stream.total_out()];
        let status = self.stream.process(input, out, if is_end { Action::Finish } else { Action::Run });
        let consumed = (self.stream.total_in() - in_before) as usize;
        let written = (self.stream.total_out() - out_before) as usize;
        self.input.consume(consumed);
        match status {
            Ok(Status::StreamEnd) => self.is_done = true,
            Ok(_) if 0 < written || (0 < consumed && !is_end) => {}
            // No progress. It ends too early, or is stuck.
            Ok(_) if is_end => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => return Err(io::ErrorKind::InvalidData.into()),
            Err(error) => self.failure = Some(error),
        }
        Ok(written)
    }
}

impl<R: BufRead> Read for Xz<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !out.is_empty() && !self.is_done {
            if let Some(error) = self.failure {
                return Err(error.into());
            }
            let written = self.step(out)?;
            if 0 < written {
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
