//! The whole pickle, from pieces and from what lies between them.

use super::decoder::{Hint, Piece};
use super::fork::Fork;
use super::sink::PieceSink;
use crate::feed::SeekSource;
use crate::machine::Machine;
use crate::memo::{Memo, MemoTable as _};
use crate::{DecodeError, Decoded, ErrorKind, Kind, Value};
use foldhash::HashSet;

/// Bytes between two looks whether pieces can be decoded yet.
const LOOK_BYTES: u64 = 256 << 10;

/// The most keys that are told to the decoders of pieces.
const MAX_HINTS: usize = 64;

/// The most opcodes that are carried out one by one until an item is whole.
const MAX_STEPS: usize = 10_000;

/// Where pieces come from.
pub trait Pieces<K: PieceSink> {
    /// Pieces could be decoded from this offset on. The whole is decoded up to the offset that is returned, before they are.
    fn alone(&mut self, offset: u64) -> u64 {
        offset
    }

    /// Pieces can be decoded, from this offset on.
    fn begin(&mut self, fork: Fork<K>, offset: u64);

    /// The next piece in the order of the pickle, as soon as there is one. `None` after the last.
    fn next(&mut self) -> Option<Piece<K::Rows>>;

    /// Pieces that begin from now on may need these.
    fn learn(&mut self, hints: Vec<Hint>);

    /// A piece was taken over. Its memory may serve another one.
    fn give_back(&mut self, piece: Piece<K::Rows>);

    /// The pickle is decoded up to an offset.
    fn advance(&mut self, offset: u64);
}

/// Decode one pickle from `source` into `sink`, with the help of `pieces`. The result is that of [`decode`](crate::decode).
///
/// # Errors
/// As [`decode`](crate::decode); and [`ErrorKind::NotAlone`] if a piece turned out to be wrong after a part of it
/// was taken over: then the pickle must be decoded again without pieces. Only files made to deceive do that.
pub fn decode_in_pieces<S: SeekSource, K: PieceSink>(
    source: S,
    sink: &mut K,
    expected_bytes: Option<u64>,
    pieces: &mut impl Pieces<K>,
) -> Result<Decoded, DecodeError> {
    let mut machine = Machine::of_pickle(source, sink, expected_bytes);
    let outcome = machine.run_with(pieces);
    machine.decoded(outcome)
}

impl<S: SeekSource, K: PieceSink> Machine<'_, S, K, Memo> {
    fn run_with(&mut self, pieces: &mut impl Pieces<K>) -> Result<Value, ErrorKind> {
        let mut steps_left = MAX_STEPS;
        let mut alone_until = None;
        loop {
            // Near a place for a fork, opcode by opcode up to the end of an item.
            let is_near = 0 < steps_left && self.is_in_list_of_items();
            steps_left -= usize::from(is_near);
            let ahead = if is_near { 1 } else { LOOK_BYTES };
            if let Some(root) = self.run_until(self.feed.offset() + ahead)? {
                return Ok(root);
            }
            pieces.advance(self.feed.offset());
            if alone_until.is_none() && Fork::pattern(self).is_some() {
                let until = pieces.alone(self.feed.offset());
                alone_until = Some(until);
                if let Some(root) = self.run_until(until)? {
                    return Ok(root);
                }
            }
            if let Some(fork) = Fork::of(self) {
                pieces.begin(fork, self.feed.offset());
                break;
            }
        }
        let (mut names, mut hints_left) = (Vec::new(), MAX_HINTS);
        let mut looked_at = self.memo.written();
        while let Some(mut piece) = pieces.next() {
            let is_gap = self.feed.offset() < piece.start;
            if let Some(root) = self.run_until(piece.start)? {
                return Ok(root);
            }
            // What ended the piece before may be a key that came after the fork.
            if is_gap && hints_left != 0 {
                let hints = self.hints(looked_at, hints_left);
                hints_left -= hints.len();
                looked_at = self.memo.written();
                pieces.learn(hints);
            }
            // A piece that does not start where an item starts was guessed wrong, and so may be all others.
            if !self.take_over(&mut piece, &mut names)? {
                break;
            }
            pieces.give_back(piece);
            pieces.advance(self.feed.offset());
        }
        loop {
            if let Some(root) = self.run_until(self.feed.offset() + LOOK_BYTES)? {
                return Ok(root);
            }
            pieces.advance(self.feed.offset());
        }
    }

    /// Keys among the memo entries that were written since there were so many.
    fn hints(&self, since: u64, at_most: usize) -> Vec<Hint> {
        let mut seen = HashSet::default();
        let new = (since..self.memo.written()).filter_map(|entry| {
            let value = self.memo.get(entry).filter(|value| value.handle(Kind::Str).is_some())?;
            let text = seen.insert(value.pack()).then(|| self.sink.key_text(value)).flatten()?;
            Some(Hint { entry, text: text.into() })
        });
        new.take(at_most).collect()
    }

    /// Whether some list is being filled whose items may be decoded in pieces.
    fn is_in_list_of_items(&self) -> bool {
        let lists =
            self.marks.iter().filter_map(|&at| self.stack.get(at.checked_sub(1)?)?.handle(Kind::List));
        self.memo.next_is_new() && lists.into_iter().any(|list| self.sink.is_list_of_items(list))
    }

    /// Take a piece over, if it starts here and its list can go on with it. Returns whether it did.
    fn take_over(
        &mut self,
        piece: &mut Piece<K::Rows>,
        names: &mut Vec<K::Names>,
    ) -> Result<bool, ErrorKind> {
        let Piece { start, end, decoder, memo, reach, is_in_batch, waiting, rows } = piece;
        let (start, end, decoder) = (*start, *end, *decoder);
        let list = self.open_list().filter(|_| self.feed.offset() == start);
        let (Some(list), Some(&mark)) = (list, self.marks.last()) else { return Ok(false) };
        let is_memo_as_forked = self.memo.next_is_new() && self.memo.replacements() == 0;
        let has_entries = *reach < self.memo.written() as i64;
        if !is_memo_as_forked || !has_entries || !self.sink.can_take_over(list, &self.stack[mark..]) {
            return Ok(false);
        }
        if names.len() <= decoder {
            names.resize_with(decoder + 1, K::Names::default);
        }
        let names = &mut names[decoder];
        self.op_start = start;
        // Items wait on the stack for as long as they would without pieces: damage may still change their fate.
        if K::has_appended(rows) {
            self.sink.extend_list(list, &self.stack[mark..])?;
            self.stack.truncate(mark);
        }
        self.sink.name_values(rows, names)?;
        let sink = &*self.sink;
        let renamed = |packed| sink.renamed(Value::unpack(packed)?, rows, names)?.pack();
        self.memo.append(memo, renamed).ok_or(ErrorKind::NotAlone)?;
        for &value in &*waiting {
            self.stack.push(sink.renamed(value, rows, names).ok_or(ErrorKind::NotAlone)?);
        }
        let memo = &self.memo;
        self.sink.take_over(list, rows, names, |index| memo.get(u64::from(index)))?;
        if !*is_in_batch {
            self.marks.pop();
        }
        self.feed.jump(end);
        self.check_limits()?;
        Ok(true)
    }
}
