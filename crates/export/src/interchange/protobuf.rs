//! Messages of Protocol Buffers, written field by field in their wire format.
//!
//! A schema compiler would add a build step and a copy of each schema; what is written here are a few dozen fields. Tests read
//! the messages with the schemas' own classes.

use std::io::{self, Write};

/// The wire type of numbers.
const VARINT: u64 = 0;
/// The wire type of texts and messages.
const BYTES: u64 = 2;

/// A message that is being put together. Cleared ones keep their memory.
#[derive(Debug, Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

impl Message {
    fn varint(&mut self, mut value: u64) {
        while 0x80 <= value {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn key(&mut self, field: u32, wire: u64) {
        self.varint(u64::from(field) << 3 | wire);
    }

    /// Add a number.
    pub(super) fn number(&mut self, field: u32, value: u64) -> &mut Self {
        self.key(field, VARINT);
        self.varint(value);
        self
    }

    /// Add a number that may be below 0.
    pub(super) fn signed(&mut self, field: u32, value: i64) -> &mut Self {
        self.number(field, value.cast_unsigned())
    }

    /// Add a text.
    pub(super) fn text(&mut self, field: u32, text: &str) -> &mut Self {
        self.raw(field, text.as_bytes())
    }

    /// Add a message within this one.
    pub(super) fn message(&mut self, field: u32, message: &Self) -> &mut Self {
        self.raw(field, &message.bytes)
    }

    /// Add a message within this one that `fill` puts together.
    pub(super) fn nested(&mut self, field: u32, fill: impl FnOnce(&mut Self)) -> &mut Self {
        let mut inner = Self::default();
        fill(&mut inner);
        self.message(field, &inner)
    }

    /// Add numbers as one packed field.
    pub(super) fn packed(&mut self, field: u32, values: impl IntoIterator<Item = u64>) -> &mut Self {
        self.nested(field, |inner| values.into_iter().for_each(|value| inner.varint(value)))
    }

    fn raw(&mut self, field: u32, bytes: &[u8]) -> &mut Self {
        self.key(field, BYTES);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Whether nothing was added.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Begin anew.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Write its fields as those of the outermost message, and begin anew.
    pub(super) fn append_to(&mut self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        out.write_all(&self.bytes)?;
        self.clear();
        Ok(())
    }

    /// Write it as a field of the outermost message, of which no more is in memory, and begin anew.
    pub(super) fn write_to(&mut self, out: &mut (impl Write + ?Sized), field: u32) -> io::Result<()> {
        let mut head = Self::default();
        head.key(field, BYTES);
        head.varint(self.bytes.len() as u64);
        out.write_all(&head.bytes)?;
        out.write_all(&self.bytes)?;
        self.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_those_of_the_encoding_guide() {
        // https://protobuf.dev/programming-guides/encoding: field 1 is 150; field 2 is "testing"; field 3 holds the first.
        let mut first = Message::default();
        first.number(1, 150);
        assert_eq!(first.bytes, [0x08, 0x96, 0x01]);
        let mut out = Message::default();
        out.text(2, "testing").message(3, &first).packed(6, [3, 270, 86_942]).signed(7, -2);
        let expected = [
            &b"\x12\x07testing"[..],
            b"\x1a\x03\x08\x96\x01",
            b"\x32\x06\x03\x8e\x02\x9e\xa7\x05",
            b"\x38\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        ];
        assert_eq!(out.bytes, expected.concat());
        let mut written = Vec::new();
        first.write_to(&mut written, 1).expect("memory can be written");
        assert_eq!((written, first.bytes.len()), (b"\x0a\x03\x08\x96\x01".to_vec(), 0));
    }
}
