//! Hand-written snapshots: Python values in a few words, pickled by serde-pickle or opcode by opcode.

use serde_pickle::{HashableValue, SerOptions, Value};

/// A dict.
pub(crate) fn dict<'a>(pairs: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    Value::Dict(
        pairs.into_iter().map(|(key, value)| (HashableValue::String(key.to_owned()), value)).collect(),
    )
}

/// A dict with further entries, or with other values for entries that it has.
pub(crate) fn with<'a>(base: &Value, pairs: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let Value::Dict(mut entries) = base.clone() else { panic!("only dicts have entries") };
    entries.extend(pairs.into_iter().map(|(key, value)| (HashableValue::String(key.to_owned()), value)));
    Value::Dict(entries)
}

/// A dict without some of its entries.
pub(crate) fn without(base: &Value, keys: &[&str]) -> Value {
    let Value::Dict(mut entries) = base.clone() else { panic!("only dicts have entries") };
    entries.retain(|key, _| !matches!(key, HashableValue::String(key) if keys.contains(&key.as_str())));
    Value::Dict(entries)
}

/// A list.
pub(crate) fn list(items: impl IntoIterator<Item = Value>) -> Value {
    Value::List(items.into_iter().collect())
}

/// A string.
pub(crate) fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

/// An int. Beyond 63 bits it is a long, as addresses in the upper half are.
pub(crate) fn int(value: impl Into<i128>) -> Value {
    let value = value.into();
    i64::try_from(value).map_or_else(|_| Value::Int(value.into()), Value::I64)
}

/// A stack frame.
pub(crate) fn frame(file: &str, line: i64, name: &str) -> Value {
    dict([("filename", text(file)), ("line", int(line)), ("name", text(name))])
}

/// A trace event with all the fields that every version writes.
pub(crate) fn event(action: &str, addr: u64, size: i64) -> Value {
    dict([
        ("action", text(action)),
        ("addr", int(addr)),
        ("size", int(size)),
        ("stream", int(0)),
        ("frames", list([])),
    ])
}

/// A block.
pub(crate) fn block(state: &str, addr: u64, size: i64, requested: i64) -> Value {
    dict([
        ("state", text(state)),
        ("address", int(addr)),
        ("size", int(size)),
        ("requested_size", int(requested)),
        ("frames", list([])),
    ])
}

/// A segment.
pub(crate) fn segment(device: i64, addr: u64, size: i64, blocks: impl IntoIterator<Item = Value>) -> Value {
    dict([
        ("device", int(device)),
        ("address", int(addr)),
        ("total_size", int(size)),
        ("stream", int(0)),
        ("segment_type", text("large")),
        ("is_expandable", Value::Bool(false)),
        ("frames", list([])),
        ("blocks", list(blocks)),
    ])
}

/// A snapshot of some segments and of one trace per device.
pub(crate) fn snapshot(
    segments: impl IntoIterator<Item = Value>,
    traces: impl IntoIterator<Item = Value>,
) -> Value {
    dict([("segments", list(segments)), ("device_traces", list(traces))])
}

/// The pickle of a value, protocol 3.
pub(crate) fn pickle(value: &Value) -> Vec<u8> {
    serde_pickle::value_to_vec(value, SerOptions::new()).expect("the value can be pickled")
}

/// The pickle of a value, protocol 2.
pub(crate) fn pickle_2(value: &Value) -> Vec<u8> {
    serde_pickle::value_to_vec(value, SerOptions::new().proto_v2()).expect("the value can be pickled")
}
