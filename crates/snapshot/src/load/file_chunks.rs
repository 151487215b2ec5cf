//! A file as chunks for the decoder, read at any place by any thread.

use super::Progress;
use super::fill::fill;
use oomscope_pickle::{Bound, Chunk, ChunkSource, ErrorKind, SeekSource};
use std::fs::File;
use std::io;

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 256 * 1024;

/// A file as chunks, from anywhere.
pub(super) struct FileChunks<'f> {
    file: &'f File,
    at: u64,
    progress: Progress,
    /// Whether the bytes count for the bound of memory.
    counts: bool,
}

impl<'f> FileChunks<'f> {
    /// The bytes from an offset on.
    pub(super) fn new(file: &'f File, at: u64, progress: &Progress) -> Self {
        Self { file, at, progress: progress.clone(), counts: true }
    }

    /// The bytes of a piece, whose memory is bounded where it is taken over.
    pub(super) fn of_piece(file: &'f File, at: u64, progress: &Progress) -> Self {
        Self { counts: false, ..Self::new(file, at, progress) }
    }
}

impl ChunkSource for FileChunks<'_> {
    fn next_chunk(&mut self, spent: Option<Chunk>) -> Result<Option<Chunk>, ErrorKind> {
        if self.progress.is_cancelled() {
            return Err(ErrorKind::Cancelled);
        }
        let mut chunk = spent.unwrap_or_else(|| Chunk::with_capacity(CHUNK_BYTES));
        let n =
            chunk.fill(|buf| fill(buf, |rest, filled| read_at(self.file, rest, self.at + filled as u64)))?;
        self.at += n as u64;
        Ok((n != 0).then_some(chunk))
    }

    fn bound(&self) -> Option<Bound> {
        self.counts.then(|| self.progress.bound(self.at))
    }
}

impl SeekSource for FileChunks<'_> {
    fn seek(&mut self, offset: u64) {
        self.at = offset;
    }
}

/// Read at a place, as much as comes at once.
#[cfg(unix)]
pub(super) fn read_at(file: &File, buf: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buf, at)
}

/// Read at a place, as much as comes at once.
#[cfg(windows)]
pub(super) fn read_at(file: &File, buf: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buf, at)
}

/// Without reads at a place, files are decoded as a whole.
#[cfg(not(any(unix, windows)))]
pub(super) fn read_at(_file: &File, _buf: &mut [u8], _at: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}
