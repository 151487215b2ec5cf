//! The values of a term: what stands behind its key, and how each kind of value is read.

use super::allocation_terms::LifeSpan;
use super::common_terms::{AddressRange, PoolIs};
use super::compare::{BYTES, DURATIONS, Interval, Op};
use super::error::{FilterError, Problem, excerpt};
use super::named_moments::NamedEvents;
use crate::analysis::At;
use crate::model::PoolKey;
use crate::units::quantity::Kind;
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
        let one = |piece: &Piece| {
            read(piece.text.trim()).ok_or_else(|| {
                let (key, expected) = (self.key, self.expected);
                let problem = Problem::BadValue { key, expected, found: excerpt(&piece.text) };
                FilterError::new(piece.range.clone(), problem)
            })
        };
        self.pieces.iter().map(one).collect()
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

pub(super) fn moment(text: &str) -> Option<At> {
    match text.to_ascii_lowercase().as_str() {
        "peak" => Some(At::Peak),
        "oom" => Some(At::Oom),
        "end" => Some(At::End),
        text => event(text).map(At::Event),
    }
}
