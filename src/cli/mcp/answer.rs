//! An answer of bounded length: a JSON document that ends early and is whole all the same.
//!
//! A document is cut while it is written, so that neither time nor memory goes into what no client would take.

use oomscope_units as units;
use std::io::{self, Write};

/// Longest answer in bytes. Agents mostly take 25,000 tokens at once; a token of such JSON has about three bytes.
const MAX_BYTES: usize = 60_000;

/// Most elements of an array, so that a long table leaves room for those after it.
const MAX_ELEMENTS: usize = 100;

/// Longest text in bytes. Paths and names of functions are shorter; a longer text is written to fill an answer.
const MAX_TEXT_BYTES: usize = 1_000;

/// A JSON document without spaces that is written up to a bound. Then writing fails with
/// [`io::ErrorKind::BrokenPipe`], which ends a command as a reader does that has seen enough.
#[derive(Debug, Default)]
pub(super) struct Answer {
    bytes: Vec<u8>,
    open: Vec<Container>,
    /// Length and depth at the last end of a value: the document may end there.
    whole: (usize, usize),
    text: Option<Text>,
    /// The depth of the array whose further elements are left out.
    skipped: Option<usize>,
    cut: Cut,
}

/// A container that is not closed yet.
#[derive(Debug)]
struct Container {
    closing: u8,
    /// Commas so far.
    commas: usize,
}

/// A text that is not closed yet.
#[derive(Debug, Default)]
struct Text {
    bytes: usize,
    escape: Escape,
    /// Whether the last escape is the first half of a character, which must not lose the other.
    is_half: bool,
    is_cut: bool,
}

/// Where in an escape such as `\n` or `\u001b` a text is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    Backslash,
    /// Digits to come, and the value of those so far.
    Hex(u8, u32),
}

impl Text {
    /// Whether a byte is the first of a character.
    fn begins_character(&self, byte: u8) -> bool {
        self.escape == Escape::None && !self.is_half && byte & 0xc0 != 0x80
    }

    fn add(&mut self, byte: u8) {
        self.bytes += 1;
        self.is_half &= self.escape != Escape::None || byte == b'\\';
        self.escape = match (self.escape, byte) {
            (Escape::None, b'\\') => Escape::Backslash,
            (Escape::Backslash, b'u') => Escape::Hex(4, 0),
            (Escape::Hex(left, value), digit) if 0 < left => {
                Escape::Hex(left - 1, value << 4 | char::from(digit).to_digit(16).unwrap_or(0))
            }
            _ => Escape::None,
        };
        if let Escape::Hex(0, value) = self.escape {
            self.is_half = (0xd800..0xdc00).contains(&value);
            self.escape = Escape::None;
        }
    }
}

/// What is missing.
#[derive(Debug, Default)]
struct Cut {
    is_short: bool,
    arrays: usize,
    texts: usize,
}

impl Answer {
    /// Whether it ends before the document does.
    pub(super) fn is_short(&self) -> bool {
        self.cut.is_short
    }

    /// The document, and a remark if something of it is missing.
    pub(super) fn finish(self) -> (String, Option<String>) {
        let remark = self.cut.remark();
        // What is cut is cut between characters.
        (String::from_utf8_lossy(&self.bytes).into_owned(), remark)
    }

    fn byte(&mut self, byte: u8) -> io::Result<()> {
        if self.text.is_some() {
            return self.in_text(byte);
        }
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => return Ok(()),
            b'"' => self.text = Some(Text::default()),
            b'[' | b'{' => {
                self.push(byte)?;
                let closing = if byte == b'[' { b']' } else { b'}' };
                self.open.push(Container { closing, commas: 0 });
                self.value_ends();
                return Ok(());
            }
            b']' | b'}' => {
                if self.skipped == Some(self.open.len()) {
                    self.skipped = None;
                }
                self.open.pop();
                // Room for it was kept.
                self.push(byte)?;
                self.value_ends();
                return Ok(());
            }
            b',' => {
                self.value_ends();
                self.count_element();
            }
            _ => {}
        }
        self.push(byte)
    }

    /// Remember that the document may end here.
    fn value_ends(&mut self) {
        if self.skipped.is_none() {
            self.whole = (self.bytes.len(), self.open.len());
        }
    }

    /// One more element begins; after [`MAX_ELEMENTS`] of an array the others are left out.
    fn count_element(&mut self) {
        let depth = self.open.len();
        let Some(container) = self.open.last_mut() else { return };
        container.commas += 1;
        if container.closing == b']' && container.commas == MAX_ELEMENTS && self.skipped.is_none() {
            self.skipped = Some(depth);
            self.cut.arrays += 1;
        }
    }

    fn in_text(&mut self, byte: u8) -> io::Result<()> {
        let Some(mut text) = self.text.take() else { return Ok(()) };
        if text.escape == Escape::None && byte == b'"' {
            return self.push(byte);
        }
        if text.begins_character(byte) && text.bytes >= MAX_TEXT_BYTES && !text.is_cut {
            text.is_cut = true;
            self.cut.texts += usize::from(self.skipped.is_none());
            "…".bytes().try_for_each(|byte| self.push(byte))?;
        }
        text.add(byte);
        let is_cut = text.is_cut;
        self.text = Some(text);
        if is_cut { Ok(()) } else { self.push(byte) }
    }

    fn push(&mut self, byte: u8) -> io::Result<()> {
        if self.skipped.is_some() {
            return Ok(());
        }
        // With room for the ends of all that is open, and for one that is opened now.
        if self.bytes.len() + self.open.len() + 2 <= MAX_BYTES || byte == b']' || byte == b'}' {
            self.bytes.push(byte);
            return Ok(());
        }
        let (length, depth) = self.whole;
        self.bytes.truncate(length);
        self.bytes.extend(self.open[..depth].iter().rev().map(|container| container.closing));
        self.cut.is_short = true;
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

/// A text beside a document: printable, and no longer than those in it.
pub(super) fn bounded(text: &str) -> String {
    let kept = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
    let end = if kept.len() < text.len() { "…" } else { "" };
    units::printable_whole(kept) + end
}

impl Write for Answer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.cut.is_short {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        bytes.iter().try_for_each(|&byte| self.byte(byte))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Cut {
    fn remark(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.is_short {
            parts.push(format!("it ends after {} bytes", units::count(MAX_BYTES as u64)));
        }
        if self.arrays != 0 {
            let arrays = units::counted(self.arrays, "array");
            parts.push(format!("{arrays} end after {MAX_ELEMENTS} elements"));
        }
        if self.texts != 0 {
            let texts = units::counted(self.texts, "text");
            parts.push(format!("{texts} end after {} bytes", units::count(MAX_TEXT_BYTES as u64)));
        }
        let ask = "ask for less: a filter, a range, a device, a smaller top";
        (!parts.is_empty()).then(|| format!("The answer is not complete: {}; {ask}.", parts.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    /// What becomes of a document.
    fn answered(document: &str) -> (Value, usize, Option<String>) {
        let mut answer = Answer::default();
        // In pieces, as writers write.
        let written = document.as_bytes().chunks(7).try_for_each(|piece| answer.write_all(piece));
        if let Err(error) = written {
            assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        }
        let (text, remark) = answer.finish();
        assert!(text.len() <= MAX_BYTES, "{} bytes", text.len());
        (serde_json::from_str(&text).expect("JSON"), text.len(), remark)
    }

    #[test]
    fn a_short_document_is_unchanged() {
        let document = json!({"a": [1, -2.5, null, {"b c": " \"\\ \u{1b}é\n"}], "d": {}, "e": []});
        let (found, bytes, remark) = answered(&format!("{document:#}\n"));
        assert_eq!((found, bytes, remark), (document.clone(), document.to_string().len(), None));
    }

    #[test]
    fn a_long_array_ends_early_and_what_follows_is_there() {
        let rows: Vec<Value> = (0..5000).map(|i| json!({"i": [i], "name": "a],\"b"})).collect();
        let (found, _, remark) = answered(&json!({"rows": rows, "after": [[1], 2]}).to_string());
        assert_eq!(found["rows"].as_array().map(Vec::len), Some(MAX_ELEMENTS));
        assert_eq!(found["rows"][99]["i"], json!([99]));
        assert_eq!(found["after"], json!([[1], 2]));
        assert!(remark.is_some_and(|remark| remark.contains("1 array end")));
    }

    #[test]
    fn a_long_document_is_cut_between_values() {
        let rows: Vec<Value> = (0..90).map(|i| json!({"i": i, "text": "x".repeat(900)})).collect();
        let (found, bytes, remark) = answered(&format!("{:#}", json!({"rows": rows})));
        let found = found["rows"].as_array().expect("rows");
        assert!(found.iter().zip(&rows).rev().skip(1).all(|(found, row)| found == row));
        assert!(MAX_BYTES - 1000 < bytes && 50 < found.len(), "{bytes} bytes, {} rows", found.len());
        assert!(remark.is_some_and(|remark| remark.contains("ends after 60,000 bytes")));
    }

    #[test]
    fn a_long_text_ends_between_characters() {
        for character in ["x", "é", "\u{1f600}", "\\n", "\\u001b", "\\ud83d\\ude00"] {
            let text = format!("[\"{}\", 1]", character.repeat(2000));
            let (found, bytes, remark) = answered(&text);
            assert!(found[0].as_str().is_some_and(|text| text.ends_with('…')), "{character}");
            assert!(bytes < MAX_TEXT_BYTES + 30 && found[1] == 1, "{character}: {bytes} bytes");
            assert!(remark.is_some());
        }
    }

    #[test]
    fn texts_beside_documents_are_bounded_too() {
        assert_eq!(bounded("a\u{1b}b"), "a\u{fffd}b");
        let long = bounded(&"é".repeat(3000));
        assert!(long.ends_with("é…") && long.len() <= MAX_TEXT_BYTES + 3, "{}", long.len());
    }

    fn document() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i64>().prop_map(Value::from),
            ".{0,30}".prop_map(Value::from),
            (0usize..4000).prop_map(|n| Value::from("ab\u{1b}".repeat(n))),
        ];
        leaf.prop_recursive(4, 400, 150, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..150).prop_map(Value::from),
                proptest::collection::hash_map(".{0,9}", inner, 0..9)
                    .prop_map(|map| map.into_iter().collect::<Value>()),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_document_stays_json_within_the_bound(document in document()) {
            let text = document.to_string();
            if text.starts_with(['[', '{']) {
                let (found, bytes, remark) = answered(&text);
                prop_assert!(remark.is_some() || found == document);
                prop_assert!(bytes <= MAX_BYTES);
            }
        }
    }
}
