//! The memo of a piece: what was known at the fork, and what the piece adds under numbers that are not known yet.

use crate::memo::{Memo, MemoTable};
use crate::{ErrorKind, Value};
use std::cell::Cell;

/// Entries of the pickle from this number on are not referred to in pieces: sinks mark references to them by the highest bit.
const MAX_INDEX: u64 = 1 << 31;

/// The memo of a piece.
#[derive(Debug, Default)]
pub(super) struct PieceMemo {
    known: Memo,
    /// Entries that the piece wrote.
    own: Vec<u32>,
    /// Entries between those that the fork knows and the piece: keys.
    hints: Vec<(u64, Value)>,
    /// The largest difference between a number that was referred to and the number of own entries before it. All of them were
    /// written before if the pickle has more than that many entries before the piece.
    reach: Cell<i64>,
}

impl PieceMemo {
    pub(super) fn new(known: Memo) -> Self {
        Self { known, reach: Cell::new(i64::MIN), ..Self::default() }
    }

    /// An entry that every further piece may refer to.
    pub(super) fn add_hint(&mut self, index: u64, value: Value) {
        self.hints.push((index, value));
    }

    /// Use the room of the entries of another piece.
    pub(super) fn reuse(&mut self, own: Vec<u32>) {
        self.own = own;
    }

    /// Forget the entries of the last piece.
    pub(super) fn start(&mut self) {
        self.own.clear();
        self.reach.set(i64::MIN);
    }

    /// The first of the own entries, packed.
    pub(super) fn take_own(&mut self, entries: u64) -> Vec<u32> {
        self.own.truncate(entries as usize);
        std::mem::take(&mut self.own)
    }

    pub(super) fn reach(&self) -> i64 {
        self.reach.get()
    }
}

impl MemoTable for PieceMemo {
    const IS_OF_PIECE: bool = true;

    #[inline]
    fn next_is_new(&self) -> bool {
        true
    }

    #[inline]
    fn memoize(&mut self, value: Value) -> Result<(), ErrorKind> {
        self.own.push(value.pack().ok_or(ErrorKind::NotAlone)?);
        Ok(())
    }

    fn put(&mut self, _index: u64, _value: Value) -> Result<(), ErrorKind> {
        Err(ErrorKind::NotAlone)
    }

    #[inline]
    fn get(&self, index: u64) -> Option<Value> {
        if index < self.known.written() {
            return self.known.get(index);
        }
        if let Some(&(_, value)) = self.hints.iter().find(|(known, _)| *known == index) {
            return Some(value);
        }
        if MAX_INDEX <= index {
            return None;
        }
        self.reach.set(self.reach.get().max(index as i64 - self.own.len() as i64));
        Some(Value::later(index as u32))
    }

    fn replacements(&self) -> u64 {
        0
    }

    fn written(&self) -> u64 {
        self.own.len() as u64
    }

    fn held_bytes(&self) -> usize {
        self.known.held_bytes() + size_of_val(&*self.own)
    }
}
