//! From one line to words: `key=value`, or a word alone. Quotes keep spaces.

use oomscope_units as units;
use std::ops::Range;

/// A word of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word<'a> {
    /// The word as it is written.
    pub(super) raw: &'a str,
    /// The part before the first `=`.
    pub(super) key: &'a str,
    /// The part behind it, without quotes.
    pub(super) value: Option<String>,
    /// The bytes of the value, or of the word if it has none.
    pub(super) range: Range<usize>,
}

/// A quote without its partner, at a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenQuote(pub(super) usize);

/// All words of a line.
pub(super) fn words(text: &str) -> Result<Vec<Word<'_>>, OpenQuote> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(|c: char| !c.is_whitespace()).map(|skip| at + skip) {
        let (word, end) = word(text, start)?;
        out.push(word);
        at = end;
    }
    Ok(out)
}

/// The word that begins at a byte, and its end.
fn word(text: &str, start: usize) -> Result<(Word<'_>, usize), OpenQuote> {
    let (mut value, mut equals, mut end) = (String::new(), None, start);
    while let Some(c) = text[end..].chars().next().filter(|c| !c.is_whitespace()) {
        let at = end;
        end += c.len_utf8();
        match c {
            '"' => {
                let (inside, length) = units::unquoted(&text[at..]).ok_or(OpenQuote(at))?;
                value.push_str(&inside);
                end = at + length;
            }
            '=' if equals.is_none() => {
                equals = Some(at);
                value.clear();
            }
            c => value.push(c),
        }
    }
    let raw = &text[start..end];
    let word = match equals {
        Some(at) => Word { raw, key: &text[start..at], value: Some(value), range: at + 1..end },
        None => Word { raw, key: raw, value: None, range: start..end },
    };
    Ok((word, end))
}

/// The value as it is written: in quotes where it would end too early without.
pub(super) fn quoted(value: &str) -> String {
    let is_plain = !value.is_empty() && !value.contains(|c: char| c.is_whitespace() || c == '"');
    if is_plain { value.to_owned() } else { units::quoted(value) }
}
