//! The fields of one dict while it becomes a record.

use super::keys::{Key, KeySet, RecordKind};
use super::later;
use oomscope_model::StrId;
use oomscope_pickle::{Handle, Kind, Value, View};

/// In [`Shape::positions`]: the dict does not have the key.
const ABSENT: u8 = u8::MAX;

/// The keys of a dict, in their order. All events of a trace share a few shapes, so what the keys
/// mean is found out once per shape.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    keys: Vec<Value>,
    /// The kind of record that these keys make, if any.
    pub(super) kind: Option<RecordKind>,
    /// The index of each key's pair, or [`ABSENT`].
    positions: [u8; Key::COUNT],
    /// Whether it has one of [`KeySet::LABELS`]. One flag saves asking every event for each of them.
    is_labelled: bool,
    /// Keys that are understood, but not in this kind of record.
    pub(super) misplaced: Vec<Key>,
    /// Keys that no record has.
    pub(super) unknown: Vec<StrId>,
}

impl Shape {
    /// The most pairs of a dict that can be a record. Events have far fewer keys that are understood; positions
    /// must fit in a byte.
    pub(super) const MAX_PAIRS: usize = 128;

    /// The shape of a dict whose keys are understood by `key_of`.
    pub(super) fn new(pairs: &[Value], key_of: impl Fn(Handle) -> Option<Key>) -> Self {
        let mut present = KeySet::default();
        let mut positions = [ABSENT; Key::COUNT];
        let mut unknown = Vec::new();
        for (i, name) in pairs.iter().step_by(2).enumerate().take(Self::MAX_PAIRS) {
            let Some(name) = name.handle(Kind::Str) else { continue };
            match key_of(name) {
                None => unknown.push(StrId(name.0)),
                Some(key) => {
                    positions[key as usize] = i as u8;
                    present.insert(key);
                }
            }
        }
        // The snapshot's own dict is no record, whatever other keys it has.
        let is_snapshot = present.without(KeySet::default()).any(Key::is_of_snapshot);
        let kind = RecordKind::of(present).filter(|_| !is_snapshot);
        let misplaced = kind.map(|kind| present.without(kind.known()).collect()).unwrap_or_default();
        let is_labelled = present.has_any(KeySet::LABELS);
        let keys = pairs.iter().step_by(2).copied().collect();
        Self { keys, kind, positions, is_labelled, misplaced, unknown }
    }

    /// Whether a dict has these keys in this order.
    #[inline]
    pub(super) fn fits(&self, pairs: &[Value]) -> bool {
        pairs.len() == 2 * self.keys.len()
            && self.keys.iter().zip(pairs.iter().step_by(2)).all(|(a, b)| a == b)
    }

    /// Whether dicts of this shape have a key.
    pub(super) fn has_key(&self, key: Value) -> bool {
        self.keys.contains(&key)
    }

    /// Whether every key is understood in this kind of record.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.misplaced.is_empty() && self.unknown.is_empty()
    }

    /// The fields of a dict of this shape from its values alone.
    #[inline]
    pub(super) fn fields_of_values<'a>(&self, values: &'a [Value]) -> Fields<'a> {
        Fields { values, stride: 1, positions: self.positions, is_labelled: self.is_labelled }
    }

    /// The fields of a dict of this shape from its keys and values.
    #[inline]
    pub(super) fn fields<'a>(&self, pairs: &'a [Value]) -> Fields<'a> {
        Fields { values: pairs, stride: 2, positions: self.positions, is_labelled: self.is_labelled }
    }
}

/// The values of a dict by key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    values: &'a [Value],
    /// 1 if there are values alone, 2 if each follows its key.
    stride: usize,
    positions: [u8; Key::COUNT],
    /// Whether an event has one of [`KeySet::LABELS`].
    pub(super) is_labelled: bool,
}

impl Fields<'_> {
    /// The value of a key. `None` in the pickle counts as absent.
    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<Value> {
        let position = self.positions[key as usize];
        if position == ABSENT {
            return None;
        }
        let at = usize::from(position) * self.stride + self.stride - 1;
        self.values.get(at).copied().filter(|&value| value != Value::NONE)
    }

    /// An int field. `Err` if the value has another type or does not fit in 64 bits.
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
            Some(value) => match value.view() {
                View::Ref(Kind::Str, text) => Ok(Some(text)),
                View::Later(entry) => Ok(Some(Handle(later::mark(entry)))),
                _ => Err(Mismatch(key)),
            },
        }
    }

    /// A list field.
    #[inline]
    pub(super) fn list(&self, key: Key) -> Option<Handle> {
        self.get(key).and_then(|value| value.handle(Kind::List))
    }
}

/// A field has a value that its key does not allow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mismatch(pub(super) Key);
