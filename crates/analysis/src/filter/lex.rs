//! From text to terms that know where they stand: names, signs and values, not yet understood.

use super::compare::Op;
use super::error::{FilterError, Problem, excerpt};
use super::keys::{FlagWord, KeyWord};
use super::term::Subject;
use super::values::Piece;
use super::words::{self, operator};
use oomscope_units as units;
use oomscope_units::quantity::{Unit, unit_named};
use std::ops::Range;

/// One term of a query.
pub(super) struct RawTerm {
    pub(super) is_negated: bool,
    pub(super) kind: RawKind,
}

/// The parts of a term.
pub(super) enum RawKind {
    /// Plain words.
    Text(Vec<Piece>),
    /// A name that stands alone.
    Flag { word: &'static FlagWord, range: Range<usize> },
    /// A name and values.
    Keyed {
        word: &'static KeyWord,
        name_range: Range<usize>,
        op: Op,
        op_range: Range<usize>,
        values: Vec<Piece>,
    },
}

/// The beginning of a term: what might be a name, and what follows it.
struct Head<'a> {
    name: &'a str,
    name_range: Range<usize>,
    /// The sign behind the name, if there is one.
    op: Option<(Op, Range<usize>)>,
    is_not_equal: bool,
    stands_alone: bool,
}

impl<'a> Head<'a> {
    fn at(query: &'a str, at: usize) -> Self {
        let rest = &query[at..];
        let ends_name = |c: char| c.is_whitespace() || matches!(c, ':' | '=' | '<' | '>' | '|' | '"');
        let (name, behind) = rest.split_at(rest.find(ends_name).unwrap_or(rest.len()));
        let stands_alone = behind.chars().next().is_none_or(char::is_whitespace);
        let op_at = at + name.len();
        // `stream!=7`
        let stripped = name.strip_suffix('!').filter(|_| behind.starts_with('='));
        let name = stripped.unwrap_or(name);
        let is_compared = words::key(name).is_some_and(|word| word.scale.is_some());
        let spaces = if is_compared { behind.len() - behind.trim_start().len() } else { 0 };
        let sign = &behind[spaces..];
        let op = operator(sign, is_compared).filter(|_| spaces == 0 || !sign.starts_with(':'));
        Self {
            name,
            name_range: at..at + name.len(),
            op: op.map(|(op, len)| (op, op_at + spaces..op_at + spaces + len)),
            is_not_equal: stripped.is_some(),
            stands_alone,
        }
    }
}

/// Reads terms from left to right.
pub(super) struct Lexer<'a> {
    query: &'a str,
    at: usize,
    /// Misspelt keys probably mean one that asks about this.
    subject: Subject,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(query: &'a str, subject: Subject) -> Self {
        Self { query, at: 0, subject }
    }

    /// The key of the term that starts at a byte, and where its value starts.
    pub(super) fn key_at(query: &'a str, at: usize) -> Option<(&'static KeyWord, usize)> {
        if let Some((word, _, value_at)) = words::short_form(&query[at..]) {
            return Some((word, at + value_at));
        }
        let head = Head::at(query, at);
        words::key(head.name).zip(head.op.map(|(_, range)| range.end))
    }

    /// The next term; `None` at the end.
    pub(super) fn term(&mut self) -> Result<Option<RawTerm>, FilterError> {
        self.skip_space();
        if self.rest().is_empty() {
            return Ok(None);
        }
        let start = self.at;
        let is_negated = self.rest().starts_with(['-', '!']);
        self.at += usize::from(is_negated);
        if is_negated && self.is_between_terms() {
            return Err(FilterError::new(start..self.at, Problem::NothingNegated));
        }
        if let Some((word, op, value_at)) = words::short_form(self.rest()) {
            let op_range = self.at..self.at + value_at;
            self.at = op_range.end;
            let values = self.values(word, op)?;
            let kind = RawKind::Keyed { word, name_range: op_range.clone(), op, op_range, values };
            return Ok(Some(RawTerm { is_negated, kind }));
        }
        let head = Head::at(self.query, self.at);
        let is_negated = is_negated != head.is_not_equal;
        Ok(Some(RawTerm { is_negated, kind: self.kind(&head)? }))
    }

    fn kind(&mut self, head: &Head<'_>) -> Result<RawKind, FilterError> {
        let name_range = head.name_range.clone();
        match (words::key(head.name), words::flag(head.name), head.op.clone()) {
            (Some(word), _, Some((op, op_range))) => {
                self.at = op_range.end;
                let values = self.values(word, op)?;
                Ok(RawKind::Keyed { word, name_range, op, op_range, values })
            }
            (None, Some(flag), Some(_)) => {
                let problem = Problem::FlagWithValue { flag: flag.names[0] };
                Err(FilterError::new(name_range.start..self.end_of_word(), problem))
            }
            (_, Some(word), None) if head.stands_alone => {
                self.at = name_range.end;
                Ok(RawKind::Flag { word, range: name_range })
            }
            // A key of the other subject is a plain word.
            (Some(word), None, None) if head.stands_alone && word.asks.says(self.subject).is_some() => {
                let problem = Problem::MissingValue { key: word.names[0], expected: word.expects };
                Err(FilterError::new(name_range, problem))
            }
            (None, None, Some((_, op_range))) if self.looks_like_key(head.name, op_range.end) => {
                let nearest = words::nearest_key(head.name, self.subject);
                let problem = Problem::UnknownKey { key: excerpt(head.name), nearest };
                Err(FilterError::new(name_range, problem))
            }
            _ => self.pieces(&[]).map(RawKind::Text),
        }
    }

    /// Whether a name with a sign behind it was meant as a key, as opposed to `train.py:55`, its end
    /// `py:55`, or `C:\`.
    fn looks_like_key(&self, name: &str, value_at: usize) -> bool {
        let is_word = 1 < name.len() && name.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
        let value = self.query[value_at..].split(char::is_whitespace).next().unwrap_or_default();
        let is_line = !value.is_empty() && value.bytes().all(|c| c.is_ascii_digit());
        is_word
            && !value.starts_with(['/', '\\'])
            && !(is_line && words::nearest_key(name, self.subject).is_none())
    }

    /// The alternatives behind a key.
    fn values(&mut self, word: &KeyWord, op: Op) -> Result<Vec<Piece>, FilterError> {
        let start = self.at;
        if op != Op::Is {
            self.skip_space();
        }
        if self.is_between_terms() {
            let problem = Problem::MissingValue { key: word.names[0], expected: word.expects };
            // The sign is marked: there is nothing behind it.
            return Err(FilterError::new(start - 1..start, problem));
        }
        self.pieces(word.scale.map_or(&[], |scale| scale.units))
    }

    /// Texts with `|` between them. A unit may follow its number after a space.
    fn pieces(&mut self, units: &'static [Unit]) -> Result<Vec<Piece>, FilterError> {
        let mut pieces = Vec::new();
        loop {
            let piece = if self.rest().starts_with('"') { self.quoted()? } else { self.bare(units) };
            if piece.text.is_empty() && !piece.is_quoted {
                let at = pieces.last().map_or(piece.range.start, |last: &Piece| last.range.end);
                let range = at.min(piece.range.start)..(piece.range.end + 1).min(self.end_of_word());
                return Err(FilterError::new(range, Problem::MissingAlternative));
            }
            pieces.push(piece);
            if !self.rest().starts_with('|') {
                return Ok(pieces);
            }
            self.at += 1;
        }
    }

    fn bare(&mut self, units: &'static [Unit]) -> Piece {
        let start = self.at;
        let ends = |c: char| c.is_whitespace() || c == '|';
        self.at += self.rest().find(ends).unwrap_or(self.rest().len());
        if !units.is_empty() && self.query[start..self.at].ends_with(|c: char| c.is_ascii_digit()) {
            let behind = self.rest().trim_start();
            let name = &behind[..behind.find(ends).unwrap_or(behind.len())];
            if unit_named(name, units).is_some() {
                self.at = self.query.len() - behind.len() + name.len();
            }
        }
        Piece { text: self.query[start..self.at].to_owned(), range: start..self.at, is_quoted: false }
    }

    fn quoted(&mut self) -> Result<Piece, FilterError> {
        let start = self.at;
        let (text, length) = units::unquoted(self.rest())
            .ok_or_else(|| FilterError::new(start..self.query.len(), Problem::UnclosedQuote))?;
        self.at += length;
        Ok(Piece { text, range: start..self.at, is_quoted: true })
    }

    fn rest(&self) -> &'a str {
        &self.query[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.query.len() - self.rest().trim_start().len();
    }

    fn is_between_terms(&self) -> bool {
        self.rest().chars().next().is_none_or(char::is_whitespace)
    }

    fn end_of_word(&self) -> usize {
        self.at + self.rest().find(char::is_whitespace).unwrap_or(self.rest().len())
    }
}
