//! Operands of opcodes, read with all checks.

use super::feed::ChunkSource;
use super::machine::Machine;
use super::memo::MemoTable;
use super::{ErrorKind, Sink};
use std::ops::Range;

impl<S: ChunkSource, K: Sink, M: MemoTable> Machine<'_, S, K, M> {
    /// The next `N` bytes.
    #[inline]
    pub(super) fn fixed<const N: usize>(&mut self) -> Result<[u8; N], ErrorKind> {
        let range = self.take(N as u64)?;
        self.feed.buf[range].first_chunk().copied().ok_or(ErrorKind::UnexpectedEnd)
    }

    /// A little-endian length or index of `width` bytes.
    #[inline]
    pub(super) fn length(&mut self, width: usize) -> Result<u64, ErrorKind> {
        let range = self.take(width as u64)?;
        let mut word = [0; 8];
        word[..width].copy_from_slice(&self.feed.buf[range]);
        Ok(u64::from_le_bytes(word))
    }

    /// The next `len` bytes, as a range of the window.
    #[inline]
    pub(super) fn take(&mut self, len: u64) -> Result<Range<usize>, ErrorKind> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        if !self.feed.require(len)? {
            return Err(ErrorKind::UnexpectedEnd);
        }
        let start = self.feed.pos;
        self.feed.pos += len;
        Ok(start..start + len)
    }

    /// The text up to the next newline, as protocol 0 writes operands.
    pub(super) fn line(&mut self) -> Result<Range<usize>, ErrorKind> {
        self.feed.line()?.ok_or(ErrorKind::UnexpectedEnd)
    }

    /// The number of a memo entry as a line of text.
    pub(super) fn index_line(&mut self, op: &'static str) -> Result<u64, ErrorKind> {
        let line = self.line()?;
        std::str::from_utf8(&self.feed.buf[line])
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .ok_or(ErrorKind::Argument(op))
    }
}
