//! Decodes pieces, one after another.

use super::fork::Fork;
use super::memo::PieceMemo;
use super::sink::PieceSink;
use crate::feed::{ChunkSource, Feed};
use crate::machine::{Boundary, Machine};
use crate::runs::Runs;
use crate::short_strings::ShortStrings;
use crate::skeleton::Skeletons;
use crate::{BATCH_ITEMS, ErrorKind, Kind, Value};

/// A piece that was decoded.
#[derive(Debug)]
pub struct Piece<R> {
    /// Offset in the pickle of its first byte.
    pub start: u64,
    /// Offset of the first byte behind it.
    pub end: u64,
    /// The decoder's number.
    pub(super) decoder: usize,
    /// Memo entries that it wrote, packed.
    pub(super) memo: Vec<u32>,
    /// As [`PieceMemo::reach`].
    pub(super) reach: i64,
    /// Whether it ends in a batch of items that is not appended to the list yet.
    pub(super) is_in_batch: bool,
    /// The items of that batch.
    pub(super) waiting: Vec<Value>,
    pub(super) rows: R,
}

/// A key that came after the fork, which pieces need to understand items that have it.
#[derive(Debug, Clone)]
pub struct Hint {
    pub(super) entry: u64,
    pub(super) text: Box<[u8]>,
}

/// Decodes pieces. What it learns from one serves the next.
#[derive(Debug)]
pub struct PieceDecoder<K> {
    number: usize,
    hints: usize,
    sink: K,
    memo: PieceMemo,
    runs: Runs,
    skeletons: Skeletons,
    short_strings: ShortStrings,
    pattern: Vec<u8>,
    /// The window of the last piece, for the next one.
    window: Vec<u8>,
}

impl<K: PieceSink> PieceDecoder<K> {
    /// A decoder. No other one of the same fork may have its `number`.
    pub fn new(fork: &mut Fork<K>, number: usize) -> Self {
        Self {
            number,
            hints: 0,
            sink: fork.sink.fork(),
            memo: fork.piece_memo(),
            runs: Runs::default(),
            skeletons: fork.skeletons.clone(),
            short_strings: ShortStrings::default(),
            pattern: fork.pattern.clone(),
            window: Vec::new(),
        }
    }

    /// Learn those of all hints that are new.
    pub fn learn(&mut self, hints: &[Hint]) {
        for hint in hints.iter().skip(self.hints) {
            if let Ok(text) = self.sink.string(&hint.text) {
                self.memo.add_hint(hint.entry, Value::reference(Kind::Str, text));
            }
        }
        self.hints = hints.len();
    }

    /// Use the memory of a piece that was taken over for the next one.
    pub fn reuse(&mut self, piece: Piece<K::Rows>) {
        self.memo.reuse(piece.memo);
        self.sink.reuse(piece.rows);
    }

    /// Decode from the first item that seems to start at or behind `from` up to the first place between two items at or
    /// behind `until`, or to wherever a piece cannot go on alone. `source` gives the bytes from `from - 1` on.
    ///
    /// `None` if there is no such item, or it cannot be decoded. Then the decoder must not be used again: what it
    /// learned meanwhile may be wrong.
    pub fn decode<S: ChunkSource>(&mut self, source: S, from: u64, until: u64) -> Option<Piece<K::Rows>> {
        let mut feed = Feed::at(source, from.checked_sub(1)?, std::mem::take(&mut self.window));
        if !feed.find(&self.pattern, until).ok()? {
            return None;
        }
        // The pattern begins with the last byte of the item before.
        feed.pos += 1;
        let start = feed.offset();
        self.memo.start();
        let mut machine = Machine::new(feed, &mut self.sink, std::mem::take(&mut self.memo));
        std::mem::swap(&mut machine.runs, &mut self.runs);
        std::mem::swap(&mut machine.skeletons, &mut self.skeletons);
        std::mem::swap(&mut machine.short_strings, &mut self.short_strings);
        let found = machine.run_piece(start, until);
        let boundary = machine.boundary;
        let mut memo = std::mem::take(&mut machine.memo);
        self.window = std::mem::take(&mut machine.feed.buf);
        std::mem::swap(&mut machine.runs, &mut self.runs);
        std::mem::swap(&mut machine.skeletons, &mut self.skeletons);
        std::mem::swap(&mut machine.short_strings, &mut self.short_strings);
        let (rows, waiting) = found?;
        let piece = Piece {
            start,
            end: boundary.offset,
            decoder: self.number,
            memo: memo.take_own(boundary.memo),
            reach: memo.reach(),
            is_in_batch: boundary.is_in_batch,
            waiting,
            rows,
        };
        self.memo = memo;
        Some(piece)
    }
}

impl<S: ChunkSource, K: PieceSink> Machine<'_, S, K, PieceMemo> {
    /// Decode items into a list of their own, from where the machine is. The boundary is then the end of the last one.
    fn run_piece(&mut self, start: u64, until: u64) -> Option<(K::Rows, Vec<Value>)> {
        let list = self.sink.list().ok()?;
        self.stack.push(Value::reference(Kind::List, list));
        self.marks.push(1);
        self.stop_at = until;
        (self.op_start, self.memory_checked) = (start, start);
        self.boundary =
            Boundary { offset: start, stack: 1, is_in_batch: true, sink: self.sink.place(), memo: 0 };
        // Whatever ends the piece early is found again by the machine that decodes what follows it.
        self.run_items(until).ok();
        let boundary = self.boundary;
        let waiting = self.stack.get(1..boundary.stack)?.to_vec();
        let rows = self.sink.take_rows(list, &waiting, &boundary.sink)?;
        (boundary.offset != start).then_some((rows, waiting))
    }

    fn run_items(&mut self, until: u64) -> Result<(), ErrorKind> {
        let is_at_end = |machine: &Self| {
            until <= machine.boundary.offset && machine.boundary.offset == machine.feed.offset()
        };
        while !is_at_end(self) {
            // Behind the end, opcode by opcode up to the end of the item.
            if until <= self.feed.offset() {
                self.stop_at = 0;
            }
            // Python's pickler appends items in batches. Others are left to the machine that bounds the stack.
            if 2 * BATCH_ITEMS < self.stack.len() || self.advance()?.is_some() {
                return Err(ErrorKind::NotAlone);
            }
        }
        Ok(())
    }
}
