//! The input as one contiguous window that moves over chunks.

use super::{Bound, ErrorKind};
use std::io;

/// Bytes of room before the data of each [`Chunk`]. The rest of the previous chunk is copied there, so that an
/// opcode's argument is contiguous without copying whole chunks. Only strings longer than this need [`Feed::gather`].
pub(super) const HEADROOM: usize = 64 * 1024;

/// Zero bytes behind the data, so that an opcode's fixed argument can be read before checking whether all of it is
/// there. No fixed argument is longer.
pub(super) const PADDING: usize = 16;

/// The longest single argument that is read, in bytes: far longer than any text of a snapshot. Damage to the length
/// of a string must not make the rest of the file one string.
const MAX_ARGUMENT_BYTES: usize = 64 << 20;

/// A piece of the input, laid out for the decoder.
#[derive(Debug)]
pub struct Chunk {
    bytes: Vec<u8>,
    end: usize,
}

impl Chunk {
    /// An empty chunk that can hold `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { bytes: vec![0; HEADROOM + capacity + PADDING], end: HEADROOM }
    }

    /// The data that was filled in.
    #[inline]
    pub fn data(&self) -> &[u8] {
        &self.bytes[HEADROOM..self.end]
    }

    /// Let `read` fill the chunk from its start; it returns how many bytes it wrote.
    pub fn fill(&mut self, read: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        let room = self.bytes.len() - PADDING;
        let n = read(&mut self.bytes[HEADROOM..room])?;
        self.end = HEADROOM + n;
        Ok(n)
    }
}

/// Where chunks come from.
pub trait ChunkSource {
    /// The next chunk, or `None` at the end. `spent` is a chunk that may be filled again.
    fn next_chunk(&mut self, spent: Option<Chunk>) -> Result<Option<Chunk>, ErrorKind>;

    /// What the input may take, as far as it was read. `None` where that is bounded elsewhere, or need not be.
    fn bound(&self) -> Option<Bound> {
        None
    }
}

/// A source that can go on elsewhere.
pub trait SeekSource: ChunkSource {
    /// Give the bytes from this offset on.
    fn seek(&mut self, offset: u64);
}

/// Whole pickles in memory, in one chunk.
impl ChunkSource for &[u8] {
    fn next_chunk(&mut self, _spent: Option<Chunk>) -> Result<Option<Chunk>, ErrorKind> {
        if self.is_empty() {
            return Ok(None);
        }
        let mut chunk = Chunk::with_capacity(self.len());
        chunk.fill(|room| {
            room.copy_from_slice(self);
            Ok(self.len())
        })?;
        *self = &[];
        Ok(Some(chunk))
    }
}

/// The window of input that the machine reads from.
///
/// `buf[pos..end]` is unread data; at least [`PADDING`] readable bytes follow `end`.
pub(super) struct Feed<S> {
    source: S,
    pub(super) buf: Vec<u8>,
    pub(super) pos: usize,
    pub(super) end: usize,
    /// Offset in the pickle of `buf[0]`. It wraps below zero while headroom lies before the start of the pickle.
    base: u64,
    finished: bool,
}

impl<S: ChunkSource> Feed<S> {
    /// A window over all that `source` will give.
    pub(super) fn new(source: S) -> Self {
        Self { source, buf: vec![0; PADDING], pos: 0, end: 0, base: 0, finished: false }
    }

    /// A window over what `source` will give, whose first byte has this offset in the pickle. `room` is a window that is
    /// no longer read, whose memory serves again; it may be empty.
    pub(super) fn at(source: S, offset: u64, mut room: Vec<u8>) -> Self {
        room.resize(room.len().max(PADDING), 0);
        Self { base: offset, buf: room, ..Self::new(source) }
    }

    /// Go to the next place at which these bytes stand. Returns false if there is none before an offset.
    pub(super) fn find(&mut self, bytes: &[u8], before: u64) -> Result<bool, ErrorKind> {
        loop {
            if let Some(at) = memchr::memmem::find(&self.buf[self.pos..self.end], bytes) {
                self.pos += at;
                return Ok(self.offset() < before);
            }
            self.pos = self.pos.max((self.end + 1).saturating_sub(bytes.len()));
            if before <= self.offset() || !self.require(bytes.len())? {
                return Ok(false);
            }
        }
    }

    /// Go on at an offset.
    pub(super) fn jump(&mut self, offset: u64)
    where
        S: SeekSource,
    {
        let ahead = offset.checked_sub(self.offset()).and_then(|ahead| usize::try_from(ahead).ok());
        if let Some(ahead) = ahead.filter(|&ahead| ahead <= self.end - self.pos) {
            self.pos += ahead;
            return;
        }
        self.source.seek(offset);
        self.pos = self.end;
        self.base = offset.wrapping_sub(self.pos as u64);
        self.finished = false;
    }

    /// As [`ChunkSource::bound`].
    pub(super) fn bound(&self) -> Option<Bound> {
        self.source.bound()
    }

    /// Offset in the pickle of the next unread byte.
    pub(super) fn offset(&self) -> u64 {
        self.offset_at(self.pos)
    }

    /// Offset in the pickle of `buf[pos]`.
    pub(super) fn offset_at(&self, pos: usize) -> u64 {
        self.base.wrapping_add(pos as u64)
    }

    /// The position in the window of an offset in the pickle; for one beyond the window, a position beyond it.
    pub(super) fn position_of(&self, offset: u64) -> usize {
        let ahead = offset.saturating_sub(self.offset());
        self.pos.saturating_add(usize::try_from(ahead).unwrap_or(usize::MAX))
    }

    /// Make at least `need` bytes available, unless the input ends before. Returns whether it did.
    pub(super) fn require(&mut self, need: usize) -> Result<bool, ErrorKind> {
        if MAX_ARGUMENT_BYTES < need {
            return Err(ErrorKind::LongString { found: need as u64, limit: MAX_ARGUMENT_BYTES as u64 });
        }
        if HEADROOM < need && self.end - self.pos < need {
            self.gather(need)?;
        }
        while self.end - self.pos < need && !self.finished {
            self.refill()?;
        }
        Ok(need <= self.end - self.pos)
    }

    /// Join as many chunks as a long argument needs, copying each once.
    fn gather(&mut self, need: usize) -> Result<(), ErrorKind> {
        let offset = self.offset();
        let mut joined = self.buf[self.pos..self.end].to_vec();
        let mut failure = None;
        while joined.len() < need && !self.finished {
            match self.source.next_chunk(None) {
                Ok(Some(chunk)) => joined.extend_from_slice(&chunk.bytes[HEADROOM..chunk.end]),
                end => {
                    failure = end.err();
                    self.finished = true;
                }
            }
        }
        self.join(&joined, &[]);
        self.base = offset;
        failure.map_or(Ok(()), Err)
    }

    /// Append one more chunk to what is left.
    fn refill(&mut self) -> Result<(), ErrorKind> {
        let offset = self.offset();
        let tail = self.buf[self.pos..self.end].to_vec();
        let bytes = std::mem::take(&mut self.buf);
        let spent = (HEADROOM + PADDING < bytes.len()).then_some(Chunk { bytes, end: HEADROOM });
        let mut failure = None;
        match self.source.next_chunk(spent) {
            Ok(Some(chunk)) if tail.len() <= HEADROOM => {
                self.buf = chunk.bytes;
                self.pos = HEADROOM - tail.len();
                self.end = chunk.end;
                self.buf[self.pos..HEADROOM].copy_from_slice(&tail);
                self.buf[self.end..][..PADDING].fill(0);
            }
            Ok(Some(chunk)) => self.join(&tail, &chunk.bytes[HEADROOM..chunk.end]),
            end => {
                failure = end.err();
                self.finished = true;
                self.join(&tail, &[]);
            }
        }
        self.base = offset.wrapping_sub(self.pos as u64);
        debug_assert_eq!(self.offset(), offset, "the next byte stays the same");
        debug_assert!(self.pos <= self.end && self.end + PADDING <= self.buf.len(), "the padding is there");
        failure.map_or(Ok(()), Err)
    }

    /// Make a window of two pieces.
    fn join(&mut self, tail: &[u8], more: &[u8]) {
        self.buf = [tail, more, &[0; PADDING]].concat();
        self.pos = 0;
        self.end = tail.len() + more.len();
    }

    /// The bytes up to the next newline, which is consumed with them; `None` if there is none.
    pub(super) fn line(&mut self) -> Result<Option<std::ops::Range<usize>>, ErrorKind> {
        let mut searched = 0;
        loop {
            let window = &self.buf[self.pos..self.end];
            if let Some(at) = memchr::memchr(b'\n', &window[searched..]) {
                let start = self.pos;
                self.pos += searched + at + 1;
                return Ok(Some(start..self.pos - 1));
            }
            searched = window.len();
            if !self.require(searched + 1)? {
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes in chunks of a fixed size.
    struct Slices<'a>(std::slice::Chunks<'a, u8>);

    impl ChunkSource for Slices<'_> {
        fn next_chunk(&mut self, spent: Option<Chunk>) -> Result<Option<Chunk>, ErrorKind> {
            let Some(piece) = self.0.next() else { return Ok(None) };
            let mut chunk = spent.unwrap_or_else(|| Chunk::with_capacity(piece.len()));
            if chunk.bytes.len() < HEADROOM + piece.len() + PADDING {
                chunk = Chunk::with_capacity(piece.len());
            }
            chunk.fill(|room| {
                room[..piece.len()].copy_from_slice(piece);
                Ok(piece.len())
            })?;
            Ok(Some(chunk))
        }
    }

    #[test]
    fn a_window_spans_chunks_of_any_size() {
        let data: Vec<u8> = (0..200_000u32).map(|i| (i * 7 + i / 251) as u8).collect();
        for size in [1, 3, 4096, 150_000] {
            if size == 1 && data.len() > 10_000 {
                continue;
            }
            let mut feed = Feed::new(Slices(data.chunks(size)));
            let mut seen = Vec::new();
            for need in [1usize, 15, 700, 90_000, 3].into_iter().cycle() {
                if !feed.require(need).unwrap() {
                    seen.extend_from_slice(&feed.buf[feed.pos..feed.end]);
                    break;
                }
                assert_eq!(feed.offset(), seen.len() as u64);
                seen.extend_from_slice(&feed.buf[feed.pos..feed.pos + need]);
                feed.pos += need;
            }
            assert!(seen == data, "chunks of {size} bytes");
        }
    }

    #[test]
    fn bytes_behind_the_end_are_zero() {
        let mut feed = Feed::new(Slices([1u8, 2, 3, 4, 5].chunks(3)));
        assert!(feed.require(5).unwrap());
        assert!(!feed.require(6).unwrap());
        assert_eq!(&feed.buf[feed.end..feed.end + PADDING], &[0; PADDING]);
    }
}
