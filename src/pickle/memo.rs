//! The memo: values that later opcodes refer to by number.

use super::{ErrorKind, Handle, Value};
use rustc_hash::FxHashMap;

const KIND_SHIFT: u32 = 29;
const STR: u32 = 0;
const BYTES: u32 = 1;
const LIST: u32 = 2;
const DICT: u32 = 3;
const TUPLE: u32 = 4;
const SET: u32 = 5;
const SCALAR: u32 = 6;
/// Kind 7 is never stored, so this pattern marks an unused entry.
const UNUSED: u32 = u32::MAX;

/// How far ahead of the dense part an entry may lie and still extend it.
const MAX_GAP: u64 = 4096;

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
}

impl Memo {
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
        } else if index - len <= MAX_GAP {
            self.dense.resize(index as usize, UNUSED);
            self.dense.push(packed);
            UNUSED
        } else {
            self.sparse.insert(index, packed).unwrap_or(UNUSED)
        };
        self.used += u64::from(before == UNUSED);
        Ok(())
    }

    #[inline]
    pub(super) fn get(&self, index: u64) -> Option<Value> {
        match self.dense.get(index as usize) {
            Some(&packed) if packed != UNUSED => Some(self.unpack(packed)),
            _ => self.sparse.get(&index).map(|&packed| self.unpack(packed)),
        }
    }

    fn pack(&mut self, value: Value) -> Result<u32, ErrorKind> {
        let (kind, handle) = match value {
            Value::Str(h) => (STR, h),
            Value::Bytes(h) => (BYTES, h),
            Value::List(h) => (LIST, h),
            Value::Dict(h) => (DICT, h),
            Value::Tuple(h) => (TUPLE, h),
            Value::Set(h) => (SET, h),
            scalar => {
                self.scalars.push(scalar);
                (SCALAR, Handle(self.scalars.len() as u32 - 1))
            }
        };
        if Handle::LIMIT <= handle.0 {
            return Err(ErrorKind::Limit { what: "objects", limit: u64::from(Handle::LIMIT) });
        }
        Ok(kind << KIND_SHIFT | handle.0)
    }

    #[inline]
    fn unpack(&self, packed: u32) -> Value {
        let handle = Handle(packed & (Handle::LIMIT - 1));
        match packed >> KIND_SHIFT {
            STR => Value::Str(handle),
            BYTES => Value::Bytes(handle),
            LIST => Value::List(handle),
            DICT => Value::Dict(handle),
            TUPLE => Value::Tuple(handle),
            SET => Value::Set(handle),
            _ => self.scalars[handle.0 as usize],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memoize_numbers_by_the_count_of_entries_as_python_does() {
        let mut memo = Memo::default();
        memo.put(3, Value::Str(Handle(7))).unwrap();
        memo.memoize(Value::Int(5)).unwrap();
        assert_eq!(memo.get(0), None);
        assert_eq!(memo.get(1), Some(Value::Int(5)));
        assert_eq!(memo.get(3), Some(Value::Str(Handle(7))));
    }

    #[test]
    fn a_huge_entry_number_costs_no_memory() {
        let mut memo = Memo::default();
        memo.put(u64::from(u32::MAX), Value::List(Handle(1))).unwrap();
        assert!(memo.dense.capacity() < 10);
        assert_eq!(memo.get(u64::from(u32::MAX)), Some(Value::List(Handle(1))));
        assert_eq!(memo.get(17), None);
    }

    #[test]
    fn a_handle_beyond_the_limit_is_refused() {
        let mut memo = Memo::default();
        assert!(memo.memoize(Value::Dict(Handle(Handle::LIMIT))).is_err());
    }
}
