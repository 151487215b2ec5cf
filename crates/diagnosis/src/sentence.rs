//! Sentences of a diagnosis: words of the program, names of the file, and typed figures.
//!
//! [`say!`] builds them. It takes no plain text that was made at run time, so that every number in a sentence is a
//! [`Figure`], whose whole is known where it is a part.

use super::figure::Figure;
use std::fmt;

/// A sentence or a part of one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sentence {
    text: String,
    figures: Vec<Figure>,
}

impl Sentence {
    /// Fill the gaps of a template; [`say!`] checks at compile time that there are as many gaps as pieces.
    pub(super) fn new(template: &'static str, pieces: Vec<Self>) -> Self {
        let mut out = Self::default();
        let mut words = template.split("{}");
        out.text.push_str(words.next().unwrap_or_default());
        for (piece, words) in pieces.into_iter().zip(words) {
            out.push(piece);
            out.text.push_str(words);
        }
        out
    }

    /// Several parts with a separator between them.
    pub(super) fn joined(parts: impl IntoIterator<Item = Self>, separator: &'static str) -> Self {
        let mut out = Self::default();
        for (i, part) in parts.into_iter().enumerate() {
            if 0 < i {
                out.text.push_str(separator);
            }
            out.push(part);
        }
        out
    }

    fn push(&mut self, part: Self) {
        self.text.push_str(&part.text);
        self.figures.extend(part.figures);
    }

    /// The same within another sentence: without a capital at its start.
    pub(super) fn in_a_sentence(mut self) -> Self {
        if let Some(first) = self.text.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        self
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The figures in it, in the order of the text.
    pub fn figures(&self) -> &[Figure] {
        &self.figures
    }

    /// Whether a figure in it is larger than its whole, so that it must not be said.
    pub(super) fn is_refused(&self) -> bool {
        self.figures.iter().any(|figure| figure.is_refused())
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<&'static str> for Sentence {
    fn from(text: &'static str) -> Self {
        Self { text: text.to_owned(), figures: Vec::new() }
    }
}

/// A name from the file: a line of code, a function, a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name(String);

/// A name from the file.
pub(super) fn name(text: impl Into<String>) -> Name {
    Name(text.into())
}

impl From<Name> for Sentence {
    fn from(Name(text): Name) -> Self {
        Self { text, figures: Vec::new() }
    }
}

impl From<Figure> for Sentence {
    fn from(figure: Figure) -> Self {
        Self { text: figure.text(), figures: vec![figure] }
    }
}

impl From<Option<Self>> for Sentence {
    fn from(sentence: Option<Self>) -> Self {
        sentence.unwrap_or_default()
    }
}

/// The gaps of a template.
pub(super) const fn gaps(template: &str) -> usize {
    let bytes = template.as_bytes();
    let (mut at, mut gaps) = (1, 0);
    while at < bytes.len() {
        if bytes[at - 1] == b'{' && bytes[at] == b'}' {
            gaps += 1;
        }
        at += 1;
    }
    gaps
}

/// Build a [`Sentence`]: `say!("{} are in use", figure::bytes(active).of(reserved))`.
macro_rules! say {
    ($template:literal $(, $piece:expr)* $(,)?) => {{
        const {
            let pieces: &[&str] = &[$(stringify!($piece)),*];
            assert!($crate::sentence::gaps($template) == pieces.len(), "a piece for each gap");
        }
        $crate::sentence::Sentence::new(
            $template,
            vec![$($crate::sentence::Sentence::from($piece)),*],
        )
    }};
}
pub(super) use say;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure;
    use oomscope_model::Bytes;

    #[test]
    fn gaps_are_filled_in_their_order() {
        let by = say!(" by {}", name("train.py:5"));
        let said = say!("{} were requested{}, {}.", figure::bytes(Bytes(1 << 20)), Some(by), "in vain");
        assert_eq!(said.text(), "1.00 MiB were requested by train.py:5, in vain.");
        assert_eq!(said.figures(), [figure::bytes(Bytes(1 << 20))]);
    }

    #[test]
    fn a_part_that_is_refused_refuses_the_whole_sentence() {
        let part = say!("{} of it", figure::bytes(Bytes(3)).of(Bytes(2)));
        assert!(say!("and {}", part.clone()).is_refused());
        assert!(Sentence::joined([Sentence::from("a"), part], ", ").is_refused());
    }

    #[test]
    fn a_name_may_look_like_a_gap() {
        assert_eq!(say!("{} and {}", name("{}"), "b").text(), "{} and b");
    }
}
