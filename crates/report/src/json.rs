//! JSON as every command writes it: indented, row by row where there are many, and safe to print.

use oomscope_units as units;
use serde::Serialize;
use serde::ser::{SerializeSeq as _, Serializer as _};
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};
use std::io::{self, Write};

/// Write one value and a newline.
///
/// # Errors
/// When writing fails.
pub(super) fn write(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *out, Printable::default()))?;
    writeln!(out)
}

/// Write a text between quotes.
///
/// # Errors
/// When writing fails.
pub fn write_text(out: &mut dyn Write, text: &str) -> io::Result<()> {
    Ok(text.serialize(&mut Serializer::with_formatter(out, Printable::default()))?)
}

/// Write an array and a newline. Each item is written before the next one is made.
///
/// # Errors
/// When writing fails.
pub(super) fn write_array<T: Serialize>(
    out: &mut dyn Write,
    items: impl Iterator<Item = T>,
) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(&mut *out, Printable::default());
    let mut array = serializer.serialize_seq(None)?;
    for item in items {
        array.serialize_element(&item)?;
    }
    array.end()?;
    writeln!(out)
}

/// Escapes what JSON may leave as it is but a terminal may obey: C1 control characters, DEL, and
/// marks that change the direction of text, and tags. Readers of JSON get the text as it was recorded.
#[derive(Default)]
struct Printable(PrettyFormatter<'static>);

impl Formatter for Printable {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        // Most texts have nothing of it: control characters below DEL never come here.
        if fragment.is_ascii() && !fragment.as_bytes().contains(&0x7f) {
            return out.write_all(fragment.as_bytes());
        }
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|&(_, c)| units::is_unprintable(c)) {
            out.write_all(&rest.as_bytes()[..at])?;
            c.encode_utf16(&mut [0; 2]).iter().try_for_each(|half| write!(out, "\\u{half:04x}"))?;
            rest = &rest[at + c.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, is_first: bool) -> io::Result<()> {
        self.0.begin_array_value(out, is_first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, is_first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, is_first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn written(value: &Value) -> String {
        let mut out = Vec::new();
        write(&mut out, value).expect("memory can be written");
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    #[test]
    fn text_that_a_terminal_would_obey_is_escaped_and_reads_as_it_was() {
        let hostile = "a\u{1b}[31m\u{7f}\u{80}\u{9b}31m\u{202e}\u{2066}\u{2069}\u{e0041} é \u{1f600}\n\"b\"";
        let value = json!({ hostile: [hostile, ""] });
        let text = written(&value);
        assert!(!text.chars().any(|c| c != '\n' && units::is_unprintable(c)), "{text:?}");
        assert!(text.contains(r"\u001b[31m\u007f\u0080\u009b31m\u202e\u2066\u2069\udb40\udc41 é"), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }

    #[test]
    fn other_values_look_as_the_library_writes_them() {
        let value = json!({"a": [1, -2.5, null, true, {"b": []}], "c": {}, "d": "e\\f"});
        assert_eq!(written(&value), format!("{value:#}\n"));
    }

    #[test]
    fn an_array_of_items_looks_like_one_value() {
        for items in [vec![], vec![json!({"a": 1}), json!([2])]] {
            let mut out = Vec::new();
            write_array(&mut out, items.iter()).expect("memory can be written");
            assert_eq!(String::from_utf8(out).expect("UTF-8"), written(&Value::Array(items)));
        }
    }
}
