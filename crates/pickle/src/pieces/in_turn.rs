//! Pieces without threads, for tests and fuzzing of those who take pieces over.

use super::decoder::{Hint, Piece, PieceDecoder};
use super::fork::Fork;
use super::join::Pieces;
use super::sink::PieceSink;
use crate::feed::SeekSource;
use crate::{Chunk, ChunkSource, ErrorKind};

/// A pickle in memory, given out in chunks of a size.
#[derive(Debug, Clone, Copy)]
pub struct InMemory<'a> {
    /// All of it.
    pub pickle: &'a [u8],
    /// Where the next chunk begins.
    pub at: usize,
    /// Bytes of a chunk.
    pub chunk_size: usize,
}

impl ChunkSource for InMemory<'_> {
    fn next_chunk(&mut self, _spent: Option<Chunk>) -> Result<Option<Chunk>, ErrorKind> {
        let end = self.pickle.len().min(self.at + self.chunk_size);
        let Some(part) = self.pickle.get(self.at..end).filter(|part| !part.is_empty()) else {
            return Ok(None);
        };
        let mut chunk = Chunk::with_capacity(part.len());
        chunk.fill(|room| {
            room.copy_from_slice(part);
            Ok(part.len())
        })?;
        self.at = end;
        Ok(Some(chunk))
    }
}

impl SeekSource for InMemory<'_> {
    fn seek(&mut self, offset: u64) {
        self.at = offset as usize;
    }
}

/// Pieces of a size, decoded in turn by a few decoders.
#[derive(Debug)]
pub struct InTurn<'a, K: PieceSink> {
    source: InMemory<'a>,
    piece_bytes: u64,
    decoders: Vec<Option<PieceDecoder<K>>>,
    fork: Option<Fork<K>>,
    hints: Vec<Hint>,
    spent: Option<Piece<K::Rows>>,
    /// Decoders so far.
    made: usize,
    /// Pieces so far.
    next: usize,
    /// Pieces that were handed over.
    pub handed_over: usize,
    /// The most of them; then the whole goes on alone.
    pub at_most: usize,
    begin: u64,
}

impl<'a, K: PieceSink> InTurn<'a, K> {
    /// Pieces of so many bytes of a source, decoded by so many decoders.
    pub fn new(source: InMemory<'a>, piece_bytes: u64, decoders: usize) -> Self {
        let decoders = (0..decoders).map(|_| None).collect();
        let (fork, hints, spent) = (None, Vec::new(), None);
        Self {
            source,
            piece_bytes,
            decoders,
            fork,
            hints,
            spent,
            made: 0,
            next: 0,
            handed_over: 0,
            at_most: usize::MAX,
            begin: 0,
        }
    }
}

impl<K: PieceSink> Pieces<K> for InTurn<'_, K> {
    fn begin(&mut self, fork: Fork<K>, offset: u64) {
        (self.fork, self.begin) = (Some(fork), offset);
    }

    fn next(&mut self) -> Option<Piece<K::Rows>> {
        loop {
            let fork = self.fork.as_mut()?;
            let from = self.begin + self.next as u64 * self.piece_bytes;
            if self.source.pickle.len() as u64 <= from || self.at_most <= self.handed_over {
                return None;
            }
            let turn = self.next % self.decoders.len();
            self.next += 1;
            let mut decoder = self.decoders[turn].take().unwrap_or_else(|| {
                self.made += 1;
                PieceDecoder::new(fork, self.made - 1)
            });
            decoder.learn(&self.hints);
            if let Some(piece) = self.spent.take() {
                decoder.reuse(piece);
            }
            let source = InMemory { at: from as usize - 1, ..self.source };
            if let Some(piece) = decoder.decode(source, from, from + self.piece_bytes) {
                self.decoders[turn] = Some(decoder);
                self.handed_over += 1;
                return Some(piece);
            }
        }
    }

    fn learn(&mut self, hints: Vec<Hint>) {
        self.hints.extend(hints);
    }

    fn give_back(&mut self, piece: Piece<K::Rows>) {
        self.spent = Some(piece);
    }

    fn advance(&mut self, _offset: u64) {}
}
