//! Chunks as a reader that knows where it is.

use super::escapes::Escapes;
use oomscope_pickle::{Bound, Chunk, ChunkSource, ErrorKind};
use std::cell::{Cell, RefCell};
use std::io::{self, Read};

/// Where in the input a decoder is, for its parts that do not hold the reader.
#[derive(Debug, Default)]
pub(super) struct InputState {
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
    /// Escapes that were read ahead.
    escapes: Escapes,
    place: &'p InputState,
}

impl<'p, S: ChunkSource> Input<'p, S> {
    pub(super) fn new(source: S, place: &'p InputState) -> Self {
        Self { source, chunk: None, at: 0, escapes: Escapes::default(), place }
    }

    /// The next byte of the source; none at its end.
    #[inline]
    fn raw(&mut self) -> Result<Option<u8>, ErrorKind> {
        if self.chunk.as_ref().is_none_or(|chunk| chunk.data().len() <= self.at) {
            self.refill()?;
        }
        let byte = self.chunk.as_ref().and_then(|chunk| chunk.data().get(self.at)).copied();
        self.at += usize::from(byte.is_some());
        Ok(byte)
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

    #[inline]
    fn next(&mut self) -> Result<Option<u8>, ErrorKind> {
        if self.escapes.is_empty() {
            let byte = self.raw()?;
            if byte != Some(b'\\') {
                return Ok(byte);
            }
            self.escapes.push(b'\\');
        }
        while self.escapes.needs_more() {
            match self.raw()? {
                Some(byte) => self.escapes.push(byte),
                None => break,
            }
        }
        Ok(self.escapes.pop())
    }
}

impl<S: ChunkSource> Read for Input<'_, S> {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let mut n = 0;
        // Read byte after byte anyway: the parser asks for one.
        while n < buf.len() {
            match self.next() {
                Ok(Some(byte)) => buf[n] = byte,
                Ok(None) => break,
                Err(kind) => {
                    self.place.failure.replace(Some(kind));
                    return Err(io::Error::other("the source failed"));
                }
            }
            n += 1;
        }
        self.place.offset.set(self.place.offset.get() + n as u64);
        Ok(n)
    }
}
