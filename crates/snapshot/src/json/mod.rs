//! Snapshots as JSON: the same dicts and lists as in a pickle, for the same [`Sink`].
//!
//! Values are handed over as they are completed, so that no tree of them exists. JSON has no references: every event
//! holds its whole stack, which the sink keeps once. It has no tuples either; a pair of ints is taken for one, since that is how ids of
//! pools are written.
//!
//! This module knows no PyTorch, no files and no threads.

mod escapes;
mod input;
#[cfg(test)]
mod tests;
mod values;

use input::{Input, InputState};
use oomscope_pickle::{ChunkSource, DecodeError, Decoded, ErrorKind, Sink};
use serde::de::DeserializeSeed as _;
use values::{Item, Values};

/// Whether a text that begins with these bytes can be JSON rather than a pickle: no pickle begins like this.
pub fn is_json(head: &[u8]) -> bool {
    match head.trim_ascii_start() {
        [b'{', ..] => true,
        // Settings files begin with a bracket, too.
        [b'[', rest @ ..] => matches!(rest.trim_ascii_start(), [b'{' | b']', ..]),
        _ => false,
    }
}

/// Decode one JSON value from `source` into `sink`. Damage is reported with what is whole before it, as for pickles.
///
/// # Errors
/// Exceeded limits, cancellation, and whatever the sink refuses.
pub fn decode<S: ChunkSource, K: Sink>(source: S, sink: &mut K) -> Result<Decoded, DecodeError> {
    let place = InputState::default();
    let mut deserializer = serde_json::Deserializer::from_reader(Input::new(source, &place));
    let mut values = Values::new(sink, &place);
    let outcome = Item(&mut values).deserialize(&mut deserializer);
    let read = place.offset.get();
    let error = match outcome {
        Ok(root) => return Ok(Decoded { root: Some(root), read_bytes: read, damage: None }),
        Err(error) => error,
    };
    // The last byte that was read is the one that does not fit.
    let offset = if error.is_syntax() { read.saturating_sub(1) } else { read };
    let kind = values.refused.take().or_else(|| place.failure.take()).unwrap_or_else(|| syntax_error(&error));
    let root = values.interrupted.take();
    let error = DecodeError { offset, kind };
    if error.kind.is_damage() {
        Ok(Decoded { root, read_bytes: offset, damage: Some(error) })
    } else {
        Err(error)
    }
}

/// The error without line and column, which the offset replaces.
fn syntax_error(error: &serde_json::Error) -> ErrorKind {
    if error.is_eof() {
        return ErrorKind::Syntax("expected the rest of the JSON, found the end of the file".to_owned());
    }
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    ErrorKind::Syntax(format!("the JSON is damaged: {reason}"))
}
