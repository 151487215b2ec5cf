//! Which word of the language a name is, or probably was meant to be.

use super::compare::Op;
use super::keys::{FLAGS, FlagWord, KEYS, KeyWord};
use super::term::Subject;
use oomscope_units as units;

/// The key of a name.
pub(super) fn key(name: &str) -> Option<&'static KeyWord> {
    KEYS.iter().find(|word| is_one_of(name, word.names))
}

/// The flag of a name.
pub(super) fn flag(name: &str) -> Option<&'static FlagWord> {
    FLAGS.iter().find(|word| is_one_of(name, word.names))
}

/// Whether a text at the start of a term is more than plain text.
pub(super) fn is_special(text: &str) -> bool {
    key(text).is_some() || flag(text).is_some() || short_form(text).is_some()
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The key that a short form stands for, its sign, and where its value starts: `#41220` for an event,
/// `0x7f21ac000000` for an address, `>1MiB` for a size.
pub(super) fn short_form(text: &str) -> Option<(&'static KeyWord, Op, usize)> {
    let (name, op, value_at) = match text.as_bytes() {
        [b'#', ..] => ("event", Op::Is, 1),
        [b'0', b'x' | b'X', ..] => ("addr", Op::Is, 0),
        [b'<' | b'>' | b'=', ..] => {
            let (op, value_at) = operator(text, false)?;
            let next = text[value_at..].chars().next();
            // `<module>` and `>::call` are texts of frames.
            let is_size = match next {
                None => true,
                Some(c) if c.is_alphabetic() => op != Op::Less,
                Some(c) => c.is_ascii_digit() || c.is_whitespace() || matches!(c, '.' | '-'),
            };
            is_size.then_some(("size", op, value_at))?
        }
        _ => return None,
    };
    Some((key(name)?, op, value_at))
}

/// The sign at the start of a text, and its length. `size:>1MB` is `size>1MB`, but `stack:<module>`
/// asks for a text; `std::vector` has no sign.
pub(super) fn operator(text: &str, is_compared: bool) -> Option<(Op, usize)> {
    const SIGNS: [(&str, Op); 11] = [
        (":>=", Op::AtLeast),
        (":<=", Op::AtMost),
        (":>", Op::More),
        (":<", Op::Less),
        (">=", Op::AtLeast),
        ("<=", Op::AtMost),
        ("==", Op::Is),
        (">", Op::More),
        ("<", Op::Less),
        ("=", Op::Is),
        (":", Op::Is),
    ];
    if text.starts_with("::") {
        return None;
    }
    let is_meant =
        |sign: &str| text.starts_with(sign) && (is_compared || sign == ":" || !sign.starts_with(':'));
    SIGNS.iter().find(|(sign, _)| is_meant(sign)).map(|&(sign, op)| (op, sign.len()))
}

/// The key of a subject that a misspelt name probably means.
pub(super) fn nearest_key(name: &str, subject: Subject) -> Option<&'static str> {
    let keys = KEYS.iter().filter(|word| word.asks.says(subject).is_some());
    let found = units::nearest(name, keys.flat_map(|word| word.names.iter().copied()))?;
    key(found).map(|word| word.names[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_keys_find_theirs() {
        let cases = [
            ("sise", Some("size")),
            ("szie", Some("size")),
            ("Steam", Some("stream")),
            ("lifetme", Some("lifetime")),
            ("adress", Some("addr")),
            ("metdata", Some("meta")),
            ("pol", Some("pool")),
            ("thread", None),
            ("x", None),
            ("", None),
        ];
        for (name, expected) in cases {
            assert_eq!(nearest_key(name, Subject::Allocations), expected, "{name}");
        }
    }

    #[test]
    fn misspelt_keys_find_only_those_that_can_be_asked() {
        assert_eq!(nearest_key("actoin", Subject::Events), Some("action"));
        assert_eq!(nearest_key("actoin", Subject::Allocations), None);
        assert_eq!(nearest_key("liftime", Subject::Events), None);
    }

    #[test]
    fn short_forms_are_not_mistaken_for_frames() {
        let form = |text| short_form(text).map(|(word, op, at)| (word.names[0], op, &text[at..]));
        for (text, expected) in [
            ("#12", ("event", Op::Is, "12")),
            ("0x1f", ("addr", Op::Is, "0x1f")),
            (">1MiB", ("size", Op::More, "1MiB")),
            ("<=512", ("size", Op::AtMost, "512")),
            ("<512", ("size", Op::Less, "512")),
            ("=.5k", ("size", Op::Is, ".5k")),
            (">lots", ("size", Op::More, "lots")),
            ("<=lots", ("size", Op::AtMost, "lots")),
            (">", ("size", Op::More, "")),
        ] {
            assert_eq!(form(text), Some(expected), "{text}");
        }
        for text in ["<module>", "<lambda>", "<frozen", ">::call", ">(int)", ":>5", "x", "0", "00x1", ""] {
            assert_eq!(form(text), None, "{text}");
        }
    }
}
