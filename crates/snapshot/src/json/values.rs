//! JSON values on their way to a sink.

use super::input::InputState;
use oomscope_pickle::{BATCH_ITEMS, ErrorKind, Handle, Kind, Sink, Value, View};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Bytes between two looks at the memory, which walk over all tables.
const MEMORY_CHECK_BYTES: u64 = 256 << 10;

/// The values that are being put together.
pub(super) struct Values<'k, K> {
    sink: &'k mut K,
    place: &'k InputState,
    /// Items of all containers that are open, innermost last.
    stack: Vec<Value>,
    /// Offset at the last look at the memory.
    memory_checked: u64,
    /// Why the sink refused a value.
    pub(super) refused: Option<ErrorKind>,
    /// The innermost container that was left when an error came; then the one around it, and in the end the root.
    pub(super) interrupted: Option<Value>,
}

impl<'k, K: Sink> Values<'k, K> {
    pub(super) fn new(sink: &'k mut K, place: &'k InputState) -> Self {
        Self { sink, place, stack: Vec::new(), memory_checked: 0, refused: None, interrupted: None }
    }

    /// The value of a call to the sink, whose refusal ends the decoding.
    fn accept<T, E: Error>(&mut self, call: impl FnOnce(&mut K) -> Result<T, ErrorKind>) -> Result<T, E> {
        let given = self.check_memory().and_then(|()| call(self.sink));
        given.map_err(|kind| {
            self.refused = Some(kind);
            E::custom("refused")
        })
    }

    fn check_memory(&mut self) -> Result<(), ErrorKind> {
        let offset = self.place.offset.get();
        if offset - self.memory_checked < MEMORY_CHECK_BYTES {
            return Ok(());
        }
        self.memory_checked = offset;
        let held = size_of_val(&*self.stack) + self.sink.held_bytes();
        self.place.bound.get().map_or(Ok(()), |bound| bound.check(held, offset))
    }

    /// Hand over the items from height `at` on.
    fn extend_list<E: Error>(&mut self, list: Handle, at: usize) -> Result<(), E> {
        let items = self.stack.split_off(at);
        self.accept(|sink| sink.extend_list(list, &items))
    }

    fn update_dict<E: Error>(&mut self, dict: Handle, at: usize) -> Result<(), E> {
        let pairs = self.stack.split_off(at);
        self.accept(|sink| sink.update_dict(dict, &pairs))
    }

    /// After an error inside a container: hand over what is whole, the container that was interrupted in it included.
    fn interrupt(&mut self, container: Value, at: usize) {
        let inner = self.interrupted.take();
        match container.view() {
            View::Ref(Kind::List, list) => {
                self.stack.extend(inner);
                let items = self.stack.split_off(at);
                self.settle(|sink| sink.interrupted_list(list, &items));
            }
            View::Ref(Kind::Dict, dict) => {
                let mut pairs = self.stack.split_off(at);
                // A key comes before its value.
                match inner {
                    Some(inner) if pairs.len() % 2 == 1 => pairs.push(inner),
                    _ => pairs.truncate(pairs.len() / 2 * 2),
                }
                self.settle(|sink| sink.interrupted_dict(dict, &pairs));
            }
            _ => {}
        }
        self.interrupted = Some(container);
    }

    /// Another refusal on the way out replaces damage, which would be reported as harmless.
    fn settle(&mut self, call: impl FnOnce(&mut K) -> Result<(), ErrorKind>) {
        if let Err(kind) = call(self.sink) {
            self.refused = Some(kind);
        }
    }
}

/// The next value.
pub(super) struct Item<'v, 'k, K>(pub(super) &'v mut Values<'k, K>);

impl<'de, K: Sink> DeserializeSeed<'de> for Item<'_, '_, K> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, K: Sink> Visitor<'de> for Item<'_, '_, K> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::NONE)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::int(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or_else(|_| Value::uint(value), Value::int))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Value::float(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        let handle = self.0.accept(|sink| sink.string(text.as_bytes()))?;
        Ok(Value::reference(Kind::Str, handle))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let values = self.0;
        let at = values.stack.len();
        let mut list = None;
        loop {
            match seq.next_element_seed(Item(values)) {
                Ok(Some(item)) => values.stack.push(item),
                Ok(None) => break,
                Err(error) => {
                    let list = list.map_or_else(|| values.sink.list(), Ok);
                    if let Ok(list) = list {
                        values.interrupt(Value::reference(Kind::List, list), at);
                    }
                    return Err(error);
                }
            }
            if values.stack.len() - at == BATCH_ITEMS {
                let into = list.map_or_else(|| values.accept(Sink::list), Ok)?;
                values.extend_list(into, at)?;
                list = Some(into);
            }
        }
        if list.is_none() && is_pair_of_ints(&values.stack[at..]) {
            let items = values.stack.split_off(at);
            let tuple = values.accept(|sink| sink.tuple(&items))?;
            return Ok(Value::reference(Kind::Tuple, tuple));
        }
        let list = list.map_or_else(|| values.accept(Sink::list), Ok)?;
        values.extend_list(list, at)?;
        Ok(Value::reference(Kind::List, list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let values = self.0;
        let at = values.stack.len();
        let dict = values.accept(Sink::dict)?;
        loop {
            let pair = match map.next_key_seed(Item(values)) {
                Ok(Some(key)) => {
                    values.stack.push(key);
                    map.next_value_seed(Item(values)).map(Some)
                }
                other => other,
            };
            match pair {
                Ok(Some(value)) => values.stack.push(value),
                Ok(None) => break,
                Err(error) => {
                    values.interrupt(Value::reference(Kind::Dict, dict), at);
                    return Err(error);
                }
            }
            if values.stack.len() - at == 2 * BATCH_ITEMS {
                values.update_dict(dict, at)?;
            }
        }
        values.update_dict(dict, at)?;
        Ok(Value::reference(Kind::Dict, dict))
    }
}

fn is_pair_of_ints(items: &[Value]) -> bool {
    matches!(items, [a, b] if matches!((a.view(), b.view()), (View::Int(_), View::Int(_))))
}
