//! The fields of one dict while it is turned into a record.

use super::keys::{Key, KeySet};
use crate::pickle::{Handle, Kind, Value, View};

/// Values by key. Reused from dict to dict: only the keys in `present` are valid.
#[derive(Debug)]
pub(super) struct Fields {
    values: [Value; Key::COUNT],
    pub(super) present: KeySet,
}

impl Default for Fields {
    fn default() -> Self {
        Self { values: [Value::NONE; Key::COUNT], present: KeySet::default() }
    }
}

impl Fields {
    #[inline]
    pub(super) fn clear(&mut self) {
        self.present = KeySet::default();
    }

    #[inline]
    pub(super) fn set(&mut self, key: Key, value: Value) {
        self.values[key as usize] = value;
        self.present.insert(key);
    }

    /// The value of a key. `None` in the pickle counts as absent.
    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<Value> {
        let value = self.values[key as usize];
        (self.present.has(key) && value != Value::NONE).then_some(value)
    }

    /// An int field. `Err` when it is there with another type or does not fit.
    #[inline]
    pub(super) fn int(&self, key: Key) -> Result<Option<i64>, Mismatch> {
        match self.get(key).map(Value::view) {
            None => Ok(None),
            Some(View::Int(value)) => Ok(Some(value)),
            Some(_) => Err(Mismatch(key)),
        }
    }

    /// An address field, which may use all 64 bits. Bindings that treat addresses as signed write
    /// negative numbers for the upper half.
    #[inline]
    pub(super) fn address(&self, key: Key) -> Result<Option<u64>, Mismatch> {
        match self.get(key).map(Value::view) {
            None => Ok(None),
            Some(View::Int(value)) => Ok(Some(value.cast_unsigned())),
            Some(View::Uint(value)) => Ok(Some(value)),
            Some(_) => Err(Mismatch(key)),
        }
    }

    /// A string field.
    #[inline]
    pub(super) fn str(&self, key: Key) -> Result<Option<Handle>, Mismatch> {
        match self.get(key) {
            None => Ok(None),
            Some(value) => value.handle(Kind::Str).map(Some).ok_or(Mismatch(key)),
        }
    }
}

/// A field has a value that its key does not allow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mismatch(pub(super) Key);
