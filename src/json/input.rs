//! Chunks as a reader that knows where it is.

use crate::pickle::{Bound, Chunk, ChunkSource, ErrorKind};
use std::cell::{Cell, RefCell};
use std::io::{self, Read};

/// Where in the input a decoder is, for its parts that do not hold the reader.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// Bytes that were read.
    pub(super) offset: Cell<u64>,
    /// As [`ChunkSource::bound`].
    pub(super) bound: Cell<Option<Bound>>,
    /// Why the source gave no more.
    pub(super) failure: RefCell<Option<ErrorKind>>,
}

/// Reads byte after byte.
pub(super) struct Input<'p, S> {
    source: S,
    chunk: Option<Chunk>,
    /// Bytes of the chunk that were read.
    at: usize,
    place: &'p Place,
}

impl<'p, S: ChunkSource> Input<'p, S> {
    pub(super) fn new(source: S, place: &'p Place) -> Self {
        Self { source, chunk: None, at: 0, place }
    }

    /// Make sure that there is a byte, unless the input ends.
    fn refill(&mut self) -> Result<(), ErrorKind> {
        while self.chunk.as_ref().is_none_or(|chunk| chunk.data().len() <= self.at) {
            self.at = 0;
            self.chunk = self.source.next_chunk(self.chunk.take())?;
            self.place.bound.set(self.source.bound());
            if self.chunk.is_none() {
                break;
            }
        }
        Ok(())
    }
}

impl<S: ChunkSource> Read for Input<'_, S> {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.chunk.as_ref().is_none_or(|chunk| chunk.data().len() <= self.at)
            && let Err(kind) = self.refill()
        {
            self.place.failure.replace(Some(kind));
            return Err(io::Error::other("the source failed"));
        }
        let rest = self.chunk.as_ref().map_or(&[][..], |chunk| &chunk.data()[self.at..]);
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        self.at += n;
        self.place.offset.set(self.place.offset.get() + n as u64);
        Ok(n)
    }
}
