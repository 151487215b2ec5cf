//! The memo: values that later opcodes refer to by number.

use super::{ErrorKind, Handle, Value};
use rustc_hash::FxHashMap;

/// The lowest pattern that stands for a value without handle; its index is added.
const SCALAR: u32 = 6 << 29;
/// An entry that was not written.
const UNUSED: u32 = u32::MAX;

/// How far beyond twice the number of entries one may lie and still be stored densely.
const MAX_GAP: u64 = 4096;

/// The most entries that room is made for in advance.
const MAX_ROOM: u64 = 1 << 28;

/// Memo entries, four bytes each: picklers memoize several objects per event.
#[derive(Debug, Default)]
pub(super) struct Memo {
    dense: Vec<u32>,
    /// Entries whose number is far beyond the dense part, so that a hostile number costs nothing.
    sparse: FxHashMap<u64, u32>,
    /// Memoized values that have no handle. No pickler writes these.
    scalars: Vec<Value>,
    /// Number of entries written, which is the number that MEMOIZE gives to the next one.
    used: u64,
    /// How often an entry was written again. What was learned from the bytes of references before
    /// that no longer holds.
    pub(super) replacements: u64,
}

impl Memo {
    /// An empty memo with room for this many entries. Room that is not used costs no memory.
    pub(super) fn with_capacity(entries: u64) -> Self {
        Self { dense: Vec::with_capacity(entries.min(MAX_ROOM) as usize), ..Self::default() }
    }

    /// MEMOIZE: store under the next number.
    #[inline]
    pub(super) fn memoize(&mut self, value: Value) -> Result<(), ErrorKind> {
        if self.used == self.dense.len() as u64 {
            let packed = self.pack(value)?;
            self.dense.push(packed);
            self.used += 1;
            return Ok(());
        }
        self.put(self.used, value)
    }

    /// PUT: store under a number of the pickle's choice.
    pub(super) fn put(&mut self, index: u64, value: Value) -> Result<(), ErrorKind> {
        let packed = self.pack(value)?;
        let len = self.dense.len() as u64;
        let before = if index < len {
            std::mem::replace(&mut self.dense[index as usize], packed)
        } else if index <= 2 * self.used + MAX_GAP {
            self.dense.resize(index as usize, UNUSED);
            self.dense.push(packed);
            UNUSED
        } else {
            self.sparse.insert(index, packed).unwrap_or(UNUSED)
        };
        self.used += u64::from(before == UNUSED);
        self.replacements += u64::from(before != UNUSED);
        Ok(())
    }

    #[inline]
    pub(super) fn get(&self, index: u64) -> Option<Value> {
        match self.dense.get(index as usize) {
            Some(&packed) => self.unpack(packed),
            None => self.sparse.get(&index).and_then(|&packed| self.unpack(packed)),
        }
    }

    #[inline]
    fn pack(&mut self, value: Value) -> Result<u32, ErrorKind> {
        if let Some(packed) = value.pack() {
            return Ok(packed);
        }
        let index = self.scalars.len() as u32;
        if Handle::LIMIT <= index {
            return Err(ErrorKind::Limit { what: "memoized scalars", limit: u64::from(Handle::LIMIT) });
        }
        self.scalars.push(value);
        Ok(SCALAR + index)
    }

    #[inline]
    fn unpack(&self, packed: u32) -> Option<Value> {
        Value::unpack(packed).or_else(|| self.scalars.get((packed - SCALAR) as usize).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    #[test]
    fn memoize_numbers_by_the_count_of_entries_as_python_does() {
        let mut memo = Memo::default();
        memo.put(3, Value::reference(Kind::Str, Handle(7))).unwrap();
        memo.memoize(Value::int(5)).unwrap();
        assert_eq!(memo.get(0), None);
        assert_eq!(memo.get(1), Some(Value::int(5)));
        assert_eq!(memo.get(3), Some(Value::reference(Kind::Str, Handle(7))));
    }

    #[test]
    fn a_huge_entry_number_costs_no_memory() {
        let mut memo = Memo::default();
        memo.put(u64::from(u32::MAX), Value::reference(Kind::List, Handle(1))).unwrap();
        assert!(memo.dense.capacity() < 10);
        for i in 1..1000 {
            memo.put(i * 5000, Value::int(1)).unwrap();
        }
        assert!(memo.dense.capacity() < 20_000);
        assert_eq!(memo.get(u64::from(u32::MAX)), Some(Value::reference(Kind::List, Handle(1))));
        assert_eq!(memo.get(17), None);
    }
}
