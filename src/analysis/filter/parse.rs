//! From terms as they were written to what they mean.

use super::error::{FilterError, Problem, excerpt};
use super::lex::{Lexer, Piece, RawKind, RawTerm, units};
use super::quantity::{Interval, Kind, Op, SIZES, interval};
use super::terms::{AddressRange, EventSet, PoolIs, Span, Term, Test, When};
use super::words::{Flag, Key, KeyWord};
use crate::analysis::{At, Basis};
use crate::model::PoolKey;

/// The terms of a query.
pub(super) fn terms(query: &str) -> Result<Vec<Term>, FilterError> {
    let mut lexer = Lexer::new(query);
    let mut terms = Vec::new();
    while let Some(raw) = lexer.term()? {
        terms.push(term(&raw)?);
    }
    Ok(terms)
}

fn term(raw: &RawTerm) -> Result<Term, FilterError> {
    let test = match &raw.kind {
        RawKind::Text(pieces) => plain(pieces),
        RawKind::Flag(word) => match word.flag {
            Flag::Live => Test::Live(vec![When::Cursor]),
            Flag::Awaiting => Test::Awaiting,
            Flag::Kept => Test::Kept,
            Flag::Before => Test::Before,
        },
        RawKind::Keyed { word, op, op_range, values } => {
            if *op != Op::Is && units(word.key).is_none() {
                let problem = Problem::NoComparison { key: word.names[0], expected: word.expects };
                return Err(FilterError::new(op_range.clone(), problem));
            }
            keyed(word, *op, values)?
        }
    };
    Ok(Term { is_negated: raw.is_negated, test })
}

/// Words without a key are searched in stacks, addresses where they are.
fn plain(pieces: &[Piece]) -> Test {
    let is_address = |piece: &Piece| !piece.is_quoted && piece.text.starts_with("0x");
    let addresses: Option<Vec<_>> =
        pieces.iter().map(|piece| address(&piece.text).filter(|_| is_address(piece))).collect();
    addresses.map_or_else(|| Test::Stack(texts(pieces)), Test::Addr)
}

fn keyed(word: &'static KeyWord, op: Op, values: &[Piece]) -> Result<Test, FilterError> {
    Ok(match word.key {
        Key::Size => Test::Size(all(word, values, |text| size(op, text))?),
        Key::Lifetime => Test::Lifetime(all(word, values, |text| lifetime(op, text))?),
        Key::Stack => Test::Stack(texts(values)),
        Key::Site => Test::Site(texts(values)),
        Key::Category => Test::Category(texts(values)),
        Key::Basis => Test::Basis(all(word, values, Basis::from_key)?),
        Key::Rule => Test::Rule(texts(values)),
        Key::Meta => Test::Meta(texts(values)),
        Key::Stream => Test::Stream(all(word, values, stream)?),
        Key::Pool => Test::Pool(all(word, values, pool)?),
        Key::Addr => Test::Addr(all(word, values, address)?),
        Key::Event => Test::Event(all(word, values, events)?),
        Key::After => Test::Event(all(word, values, |text| at(text).map(EventSet::After))?),
        Key::Before => Test::Event(all(word, values, |text| at(text).map(EventSet::Before))?),
        Key::Live => Test::Live(all(word, values, |text| at(text).map(When::At))?),
    })
}

/// Every alternative, or an error about the first that is none.
fn all<T>(
    word: &'static KeyWord,
    values: &[Piece],
    read: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, FilterError> {
    let one = |piece: &Piece| {
        read(piece.text.trim()).ok_or_else(|| {
            let (key, expected) = (word.names[0], word.expects);
            let problem = Problem::BadValue { key, expected, found: excerpt(&piece.text) };
            FilterError::new(piece.range.clone(), problem)
        })
    };
    values.iter().map(one).collect()
}

fn texts(pieces: &[Piece]) -> Vec<String> {
    pieces.iter().map(|piece| piece.text.to_lowercase()).collect()
}

fn size(op: Op, text: &str) -> Option<Interval> {
    interval(op, text, SIZES, SIZES.first()).map(|(interval, _)| interval)
}

fn lifetime(op: Op, text: &str) -> Option<Span> {
    let (interval, kind) = interval(op, text, units(Key::Lifetime)?, None)?;
    Some(if kind == Kind::Events { Span::Events(interval) } else { Span::Microseconds(interval) })
}

/// A stream's number, or its address as torch writes it.
fn stream(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok().map(u64::cast_signed),
        None => text.parse().ok(),
    }
}

fn pool(text: &str) -> Option<PoolIs> {
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
fn address(text: &str) -> Option<AddressRange> {
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
fn events(text: &str) -> Option<EventSet> {
    let bound = |text: &str, open: i64| if text.is_empty() { Some(open) } else { event(text).map(i64::from) };
    let (first, last) = match text.split_once("..") {
        Some(("", "")) => return None,
        Some((first, last)) => (bound(first, 0)?, bound(last, i64::MAX)?),
        None => (event(text)?.into(), event(text)?.into()),
    };
    Some(EventSet::Within(Interval { first, last }))
}

fn at(text: &str) -> Option<At> {
    match text.to_ascii_lowercase().as_str() {
        "peak" => Some(At::Peak),
        "oom" => Some(At::Oom),
        "end" => Some(At::End),
        text => event(text).map(At::Event),
    }
}
