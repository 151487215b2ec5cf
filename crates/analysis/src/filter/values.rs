//! The values of a term: what stands behind its key, and how each kind of value is read.

use super::allocation_terms::LifeSpan;
use super::common_terms::{AddressRange, PoolIs};
use super::compare::{BYTES, DURATIONS, Interval, Op};
use super::error::{FilterError, Problem, excerpt};
use super::event_terms::begins_with;
use super::named_moments::NamedEvents;
use crate::{At, Category, RULES};
use oomscope_model::{Action, PoolKey};
use oomscope_units as units;
use oomscope_units::quantity::Kind;
use std::ops::Range;

/// One of the alternatives of a value.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) range: Range<usize>,
    pub(super) is_quoted: bool,
}

/// All that stands behind a key.
pub(super) struct Values<'a> {
    pub(super) op: Op,
    pub(super) pieces: &'a [Piece],
    /// The key and the values that it has, for errors.
    pub(super) key: &'static str,
    pub(super) expected: &'static str,
}

impl Values<'_> {
    /// Every alternative, or an error about the first that is none.
    pub(super) fn each<T>(&self, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, FilterError> {
        self.each_of(&[], read)
    }

    /// [`Self::each`] of a term with a list of words. The error names the one that is probably meant.
    pub(super) fn each_of<T>(
        &self,
        words: &[&'static str],
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, FilterError> {
        self.pieces.iter().map(|piece| self.one_of(words, piece, &read)).collect()
    }

    /// Texts to be looked for, in lower case: those that `read` finds in the list of words and, in quotes, all others, since a
    /// file may have words of its own.
    pub(super) fn texts_of(
        &self,
        words: &[&'static str],
        read: impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<String>, FilterError> {
        let one = |piece: &Piece| {
            if piece.is_quoted { Ok(piece.text.to_lowercase()) } else { self.one_of(words, piece, &read) }
        };
        self.pieces.iter().map(one).collect()
    }

    fn one_of<T>(
        &self,
        words: &[&'static str],
        piece: &Piece,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, FilterError> {
        let value = piece.text.trim();
        read(value).ok_or_else(|| {
            let nearest = units::nearest(value, words.iter().copied());
            let (key, expected, found) = (self.key, self.expected, excerpt(&piece.text));
            FilterError::new(piece.range.clone(), Problem::BadValue { key, expected, found, nearest })
        })
    }

    pub(super) fn texts(&self) -> Vec<String> {
        texts(self.pieces)
    }

    pub(super) fn sizes(&self) -> Result<Vec<Interval>, FilterError> {
        self.each(|text| BYTES.interval(self.op, text).map(|(interval, _)| interval))
    }

    pub(super) fn life_spans(&self) -> Result<Vec<LifeSpan>, FilterError> {
        self.each(|text| {
            let (interval, kind) = DURATIONS.interval(self.op, text)?;
            let is_counted = kind == Kind::Events;
            Some(if is_counted { LifeSpan::Events(interval) } else { LifeSpan::Microseconds(interval) })
        })
    }
}

/// Texts to be looked for, in lower case.
pub(super) fn texts(pieces: &[Piece]) -> Vec<String> {
    pieces.iter().map(|piece| piece.text.to_lowercase()).collect()
}

/// A stream's number, or its address as torch writes it.
pub(super) fn stream(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok().map(u64::cast_signed),
        None => text.parse().ok(),
    }
}

/// Pools with names.
pub(super) const POOLS: [&str; 2] = ["private", "default"];

pub(super) fn pool(text: &str) -> Option<PoolIs> {
    match text.to_ascii_lowercase().as_str() {
        "private" => Some(PoolIs::Private),
        "default" => Some(PoolIs::Key(PoolKey::DEFAULT)),
        text => {
            let inner = text.trim_start_matches('(').trim_end_matches(')');
            let (a, b) = inner.split_once(['.', ','])?;
            Some(PoolIs::Key(PoolKey(a.trim().parse().ok()?, b.trim().parse().ok()?)))
        }
    }
}

/// An address, or a range of two. They are always hexadecimal.
pub(super) fn address(text: &str) -> Option<AddressRange> {
    let one = |text: &str| {
        let digits = text.strip_prefix("0x").or(text.strip_prefix("0X")).unwrap_or(text);
        // `from_str_radix` would take a sign.
        let is_hex = digits.starts_with(|c: char| c.is_ascii_hexdigit());
        u64::from_str_radix(digits, 16).ok().filter(|_| is_hex)
    };
    match text.split_once("..").or(text.split_once('-')) {
        Some((first, last)) => Some(AddressRange { first: one(first)?, last: one(last)? }),
        None => one(text).map(|addr| AddressRange { first: addr, last: addr }),
    }
}

/// An event's number; digits may be grouped.
fn event(text: &str) -> Option<u32> {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit());
    text.replace([',', '_'], "").parse().ok().filter(|_| is_number)
}

/// An event's number, or a range that includes both of its ends.
pub(super) fn events(text: &str) -> Option<NamedEvents> {
    let bound = |text: &str, open: i64| if text.is_empty() { Some(open) } else { event(text).map(i64::from) };
    let (first, last) = match text.split_once("..") {
        Some(("", "")) => return None,
        Some((first, last)) => (bound(first, 0)?, bound(last, i64::MAX)?),
        None => (event(text)?.into(), event(text)?.into()),
    };
    Some(NamedEvents::Within(Interval { first, last }))
}

/// The category that a text names, or a part of its name, as a text to be looked for.
pub(super) fn category(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let has = |name: &str| name.to_lowercase().contains(&lower);
    let is_known = Category::ALL.into_iter().any(|category| has(category.key()) || has(category.label()));
    if is_known { Some(lower) } else { Category::from_key(text).map(|category| category.key().to_owned()) }
}

/// The rules that have a text in their names, as that text.
pub(super) fn rule(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    RULES.iter().any(|rule| rule.id.contains(&lower)).then_some(lower)
}

/// An action that torch writes, or the start of several, as a text to be looked for.
pub(super) fn action(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    Action::names().any(|name| begins_with(name, &lower)).then_some(lower)
}

/// Moments with names.
pub(super) const MOMENTS: [&str; 3] = ["peak", "oom", "end"];

pub(super) fn moment(text: &str) -> Option<At> {
    match text.to_ascii_lowercase().as_str() {
        "peak" => Some(At::Peak),
        "oom" => Some(At::Oom),
        "end" => Some(At::End),
        text => event(text).map(At::Event),
    }
}
