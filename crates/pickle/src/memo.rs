//! The memo: values that later opcodes refer to by number.

use super::{ErrorKind, Handle, Value};
use rustc_hash::FxHashMap;

/// The lowest pattern that stands for a value without a handle; its index in [`Memo::scalars`] is added. The kinds of
/// handles take the patterns below.
const SCALAR: u32 = 6 << 29;

/// The pattern of an entry that was not written, above all indexes of scalars.
const UNUSED: u32 = u32::MAX;

/// Entries up to twice the number of those written, and this many more, are stored densely: 16 KiB, so that small
/// pickles that count from anywhere do not need the map.
const MAX_GAP: u64 = 4096;

/// The most entries that room is made for in advance: 1 GiB of addresses, which take no memory until they are used.
const MAX_ROOM: u64 = 1 << 28;

/// Where the machine keeps memoized values.
pub(super) trait MemoTable {
    /// Whether the table is that of a piece that is decoded on its own.
    const IS_OF_PIECE: bool;

    /// Whether it is certain that MEMOIZE would write a new entry. Only pickles that also PUT numbers out of order have
    /// entries ahead of the count, which MEMOIZE may hit.
    fn next_is_new(&self) -> bool;

    /// MEMOIZE: store under the next number.
    fn memoize(&mut self, value: Value) -> Result<(), ErrorKind>;

    /// PUT: store under a number of the pickle's choice.
    fn put(&mut self, index: u64, value: Value) -> Result<(), ErrorKind>;

    /// GET: the value under a number.
    fn get(&self, index: u64) -> Option<Value>;

    /// Number of times that an entry was written again. Anything learned from the bytes of references before
    /// that no longer holds.
    fn replacements(&self) -> u64;

    /// Number of entries that were written.
    fn written(&self) -> u64;

    /// Bytes of memory that the entries take.
    fn held_bytes(&self) -> usize;
}

/// Memo entries, four bytes each: picklers memoize several objects per event.
#[derive(Debug, Default, Clone)]
pub(super) struct Memo {
    dense: Vec<u32>,
    /// Entries whose number is far beyond the dense part, so that a hostile number costs nothing.
    sparse: FxHashMap<u64, u32>,
    /// Memoized values that have no handle. No pickler writes these.
    scalars: Vec<Value>,
    /// Number of entries written, which is the number that MEMOIZE gives to the next one.
    used: u64,
    /// Number of times that an entry was written again.
    replacements: u64,
}

impl Memo {
    /// An empty memo with room for this many entries. Room that is not used costs no memory.
    pub(super) fn with_capacity(entries: u64) -> Self {
        Self { dense: Vec::with_capacity(entries.min(MAX_ROOM) as usize), ..Self::default() }
    }

    /// Make the dense part reach up to an index. Sparse entries that it reaches move into it.
    fn grow(&mut self, index: u64) {
        for i in self.dense.len() as u64..=index {
            self.dense.push(self.sparse.remove(&i).unwrap_or(UNUSED));
        }
    }

    /// Out of line: no pickler writes entries that far apart.
    #[cold]
    fn get_sparse(&self, index: u64) -> Option<Value> {
        self.sparse.get(&index).and_then(|&packed| self.unpack(packed))
    }

    /// MEMOIZE values that are packed, each of them renamed. `None` if one has no name; then some of them are missing.
    pub(super) fn append(&mut self, packed: &[u32], renamed: impl Fn(u32) -> Option<u32>) -> Option<()> {
        debug_assert!(self.next_is_new(), "all of them are new entries");
        self.dense.reserve(packed.len());
        for &packed in packed {
            self.dense.push(renamed(packed)?);
        }
        self.used += packed.len() as u64;
        Some(())
    }

    /// A value in 32 bits. One without a handle is put aside first.
    #[inline]
    fn pack(&mut self, value: Value) -> Result<u32, ErrorKind> {
        if let Some(packed) = value.pack() {
            return Ok(packed);
        }
        let index = self.scalars.len() as u32;
        if Handle::LIMIT <= index {
            return Err(ErrorKind::Limit { what: "memoized scalars", limit: u64::from(Handle::LIMIT) });
        }
        debug_assert!(SCALAR + index < UNUSED, "scalars end below the pattern of unwritten entries");
        self.scalars.push(value);
        Ok(SCALAR + index)
    }

    #[inline]
    fn unpack(&self, packed: u32) -> Option<Value> {
        let value = Value::unpack(packed);
        if value.is_some() { value } else { self.scalar(packed) }
    }

    /// The scalar behind a pattern; `None` for entries that were not written.
    #[cold]
    fn scalar(&self, packed: u32) -> Option<Value> {
        self.scalars.get((packed - SCALAR) as usize).copied()
    }
}

impl MemoTable for Memo {
    const IS_OF_PIECE: bool = false;

    #[inline]
    fn next_is_new(&self) -> bool {
        self.used == self.dense.len() as u64 && self.sparse.is_empty()
    }

    #[inline]
    fn memoize(&mut self, value: Value) -> Result<(), ErrorKind> {
        if self.next_is_new() {
            let packed = self.pack(value)?;
            self.dense.push(packed);
            self.used += 1;
            return Ok(());
        }
        self.put(self.used, value)
    }

    fn put(&mut self, index: u64, value: Value) -> Result<(), ErrorKind> {
        let packed = self.pack(value)?;
        let before = if index < self.dense.len() as u64 || index <= 2 * self.used + MAX_GAP {
            self.grow(index);
            std::mem::replace(&mut self.dense[index as usize], packed)
        } else {
            self.sparse.insert(index, packed).unwrap_or(UNUSED)
        };
        self.used += u64::from(before == UNUSED);
        self.replacements += u64::from(before != UNUSED);
        Ok(())
    }

    #[inline]
    fn get(&self, index: u64) -> Option<Value> {
        match self.dense.get(index as usize) {
            Some(&packed) => self.unpack(packed),
            None => self.get_sparse(index),
        }
    }

    fn held_bytes(&self) -> usize {
        let sparse = self.sparse.capacity() * size_of::<(u64, u32)>();
        size_of_val(&*self.dense) + sparse + size_of_val(&*self.scalars)
    }

    #[inline]
    fn replacements(&self) -> u64 {
        self.replacements
    }

    fn written(&self) -> u64 {
        self.used
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
    fn an_entry_far_beyond_the_others_stays_when_they_reach_it() {
        let mut memo = Memo::default();
        memo.put(5000, Value::int(-1)).unwrap();
        memo.put(6000, Value::int(-2)).unwrap();
        for i in 0..4000 {
            memo.put(i, Value::int(1)).unwrap();
        }
        memo.put(7000, Value::int(-3)).unwrap();
        let found = [4999, 5000, 5001, 6000, 7000].map(|index| memo.get(index));
        assert_eq!(found, [None, Some(Value::int(-1)), None, Some(Value::int(-2)), Some(Value::int(-3))]);
        // 4003 entries so far: MEMOIZE goes on with 4003 and stays at 5000, as the count does.
        assert_eq!(memo.replacements, 0);
        for _ in 4003..=5001 {
            memo.memoize(Value::int(2)).unwrap();
        }
        assert_eq!([5000, 5001].map(|index| memo.get(index)), [Some(Value::int(2)), None]);
        assert_eq!(memo.replacements, 2);
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
