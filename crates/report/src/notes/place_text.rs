//! A place as one line: `event=2528 range=100..2600 select=alloc:1234 filter="site:train.py:55" color=stack`.
//!
//! | word | means |
//! | --- | --- |
//! | `device=1` | the device |
//! | `event=2528`, also `start`, `peak`, `oom`, `end` | the cursor: after an event, or before the first |
//! | `range=100..2600` | the events in sight |
//! | `range=1.2s..2s`, `range=time` | the time in sight, with the axis of time; all of it |
//! | `bytes=0..1073741824` | the bytes in sight |
//! | `select=alloc:1234`, `select=alloc:0x7f2100000000` | the allocation that an event made, or that was there before |
//! | `select=stack:1234` | everything with the stack of that allocation |
//! | `select=segment:0x7f2100000000` | a segment |
//! | `filter="size>1MB live"`, `only` | the filter; what it does not match is left out |
//! | `color=stack` | the property that colours show |
//!
//! Words that are not known belong to other versions: they are kept, and nothing follows from them.

use super::lexer::{OpenQuote, Word, quoted, words};
use super::place::{BlockRef, Place, PlaceMoment, PlaceRange, Selected};
use oomscope_units as units;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use thiserror::Error;

/// The longest line that is read, in bytes: far more than any filter that a person writes.
const MAX_BYTES: usize = 16 << 10;

/// Why a line is no place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{problem} (at character {})", .column)]
pub struct PlaceError {
    /// The mistake.
    pub problem: PlaceProblem,
    /// The bytes of the line that it is about.
    pub range: Range<usize>,
    /// Where it begins, in characters from 1.
    pub column: usize,
}

/// A mistake in a place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlaceProblem {
    /// A value that its key does not take.
    #[error("'{found}' is no value of {key}=, which takes {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// The value.
        found: String,
        /// Values that it takes.
        expected: &'static str,
    },
    /// A key that stands there twice.
    #[error("{0} is given twice")]
    Twice(&'static str),
    /// A quote without its partner.
    #[error("the quote is not closed")]
    OpenQuote,
    /// More than anyone writes.
    #[error("a place has at most {MAX_BYTES} bytes")]
    TooLong,
}

const EVENT: &str = "the number of an event, start, peak, oom or end";
const RANGE: &str = "events as 100..2600, times as 1.2s..2s, or time";
const BYTES: &str = "bytes as 0..1073741824";
const SELECT: &str = "alloc:EVENT, alloc:0xADDRESS, stack:EVENT, stack:0xADDRESS or segment:0xADDRESS";

impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        if MAX_BYTES < text.len() {
            return Err(error(text, PlaceProblem::TooLong, MAX_BYTES..text.len()));
        }
        let all =
            words(text).map_err(|OpenQuote(at)| error(text, PlaceProblem::OpenQuote, at..text.len()))?;
        let mut place = Self::default();
        let mut seen: Vec<&'static str> = Vec::new();
        for word in all {
            let key = place.take(&word).map_err(|problem| error(text, problem, word.range.clone()))?;
            let Some(key) = key else { continue };
            if seen.contains(&key) {
                return Err(error(text, PlaceProblem::Twice(key), word.range));
            }
            seen.push(key);
        }
        Ok(place)
    }
}

fn error(text: &str, problem: PlaceProblem, range: Range<usize>) -> PlaceError {
    let column = text.char_indices().take_while(|(at, _)| *at < range.start).count() + 1;
    PlaceError { problem, range, column }
}

impl Place {
    /// Take over a word. Returns its key if it is known.
    fn take(&mut self, word: &Word<'_>) -> Result<Option<&'static str>, PlaceProblem> {
        let Some(value) = word.value.as_deref() else {
            if word.key == "only" {
                self.hides_rest = true;
                return Ok(Some("only"));
            }
            self.unknown.push(units::printable(word.raw));
            return Ok(None);
        };
        let key = match word.key {
            "device" => set(&mut self.device, "device", value, "the number of a device", |v| v.parse().ok())?,
            "event" => set(&mut self.moment, "event", value, EVENT, moment)?,
            "range" => set(&mut self.range, "range", value, RANGE, range)?,
            "bytes" => set(&mut self.bytes, "bytes", value, BYTES, |v| ascending(v, |n| n.parse().ok()))?,
            "select" => set(&mut self.selection, "select", value, SELECT, selected)?,
            "filter" => set(&mut self.filter, "filter", value, "a filter", text_value)?,
            "color" | "colour" => set(&mut self.colour, "color", value, "a property", text_value)?,
            _ => {
                self.unknown.push(units::printable(word.raw));
                return Ok(None);
            }
        };
        Ok(Some(key))
    }
}

fn set<T>(
    field: &mut Option<T>,
    key: &'static str,
    value: &str,
    expected: &'static str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<&'static str, PlaceProblem> {
    let read = read(value);
    if read.is_none() {
        return Err(PlaceProblem::Value { key, found: units::printable(value), expected });
    }
    *field = read;
    Ok(key)
}

fn text_value(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| units::printable_whole(text))
}

fn moment(text: &str) -> Option<PlaceMoment> {
    match text {
        "start" => Some(PlaceMoment::Start),
        "peak" => Some(PlaceMoment::Peak),
        "oom" => Some(PlaceMoment::Oom),
        "end" => Some(PlaceMoment::End),
        number => event(number).map(PlaceMoment::Event),
    }
}

/// The number of an event, also as the window shows it: `2,528`.
fn event(text: &str) -> Option<u32> {
    text.replace(',', "").parse().ok().filter(|_| text.starts_with(|c: char| c.is_ascii_digit()))
}

fn ascending<T: PartialOrd>(text: &str, read: impl Fn(&str) -> Option<T>) -> Option<[T; 2]> {
    let (from, to) = text.split_once("..")?;
    let ends = [read(from)?, read(to)?];
    (ends[0] <= ends[1]).then_some(ends)
}

fn range(text: &str) -> Option<PlaceRange> {
    if text == "time" {
        return Some(PlaceRange::AllTime);
    }
    let events = ascending(text, event).map(PlaceRange::Events);
    events.or_else(|| ascending(text, time_us).map(PlaceRange::TimeUs))
}

fn time_us(text: &str) -> Option<u64> {
    let (number, unit_us) = match text {
        _ if text.ends_with("us") => (text.strip_suffix("us")?, None),
        _ if text.ends_with("ms") => (text.strip_suffix("ms")?, Some(1e3)),
        _ => (text.strip_suffix('s')?, Some(1e6)),
    };
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    match unit_us {
        None => number.parse().ok(),
        // The cast saturates.
        Some(unit_us) => number.parse::<f64>().ok().map(|number| (number * unit_us).round() as u64),
    }
}

fn selected(text: &str) -> Option<Selected> {
    let (kind, name) = text.split_once(':')?;
    match kind {
        "alloc" => block(name).map(Selected::Allocation),
        "stack" => block(name).map(Selected::StackOf),
        "segment" => address(name).map(Selected::Segment),
        _ => None,
    }
}

fn block(text: &str) -> Option<BlockRef> {
    address(text).map(BlockRef::Address).or_else(|| event(text).map(BlockRef::Event))
}

fn address(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x")?;
    u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<String> = Vec::new();
        words.extend(self.device.map(|device| format!("device={device}")));
        words.extend(self.moment.map(|moment| format!("event={moment}")));
        words.extend(self.range.map(|range| format!("range={range}")));
        words.extend(self.bytes.map(|[from, to]| format!("bytes={from}..{to}")));
        words.extend(self.selection.map(|selection| format!("select={selection}")));
        words.extend(self.filter.as_ref().map(|filter| format!("filter={}", quoted(filter))));
        words.extend(self.hides_rest.then(|| "only".to_owned()));
        words.extend(self.colour.as_ref().map(|colour| format!("color={}", quoted(colour))));
        words.extend(self.unknown.iter().cloned());
        f.write_str(&words.join(" "))
    }
}

impl fmt::Display for PlaceMoment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => f.write_str("start"),
            Self::Event(event) => event.fmt(f),
            Self::Peak => f.write_str("peak"),
            Self::Oom => f.write_str("oom"),
            Self::End => f.write_str("end"),
        }
    }
}

impl fmt::Display for PlaceRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Events([from, to]) => write!(f, "{from}..{to}"),
            Self::TimeUs([from, to]) => write!(f, "{from}us..{to}us"),
            Self::AllTime => f.write_str("time"),
        }
    }
}

impl fmt::Display for Selected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allocation(block) => write!(f, "alloc:{block}"),
            Self::StackOf(block) => write!(f, "stack:{block}"),
            Self::Segment(addr) => write!(f, "segment:{}", units::address(*addr)),
        }
    }
}

impl fmt::Display for BlockRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(event) => event.fmt(f),
            Self::Address(addr) => f.write_str(&units::address(*addr)),
        }
    }
}
