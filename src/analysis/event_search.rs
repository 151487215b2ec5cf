//! Which events match a search.
//!
//! A search is a list of terms that must all hold: `alloc >1MiB train.py:55`. See [`EventSearch`].

use super::EventSet;
use crate::model::{Action, EventIx, EventTable, Snapshot, StackId, Timeline};
use crate::units;
use memchr::memmem::Finder;
use rayon::prelude::*;
use std::ops::{Range, RangeInclusive};
use thiserror::Error;

/// Events that one task looks at.
const CHUNK: usize = 1 << 16;

/// What cannot be searched for.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SearchError {
    /// After `>`, `<` or `=` there is no size.
    #[error("'{0}' is no size; write one as >512, <=1.5MiB or =2GiB")]
    Size(String),
    /// After `0x` there is no address.
    #[error("'{0}' is no address; write one as 0x7f21ac000000")]
    Address(String),
    /// After `stream:` there is no number.
    #[error("'{0}' is no stream; write one as stream:7")]
    Stream(String),
    /// After `#` there is no number.
    #[error("'{0}' is no event; write one as #1234")]
    Event(String),
}

/// One thing that must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Term {
    /// The event's range contains this address.
    Address(u64),
    /// Its size lies in a range.
    Size(RangeInclusive<i64>),
    /// It is on this stream.
    Stream(i64),
    /// It is this event.
    Event(u32),
    /// Its action has this name or starts with it, or a frame of its stack has this text. Lower case.
    Word(String),
    /// A frame of its stack has this text. Lower case.
    Text(String),
}

/// What to search for; all of it must hold.
///
/// | term | matches |
/// | --- | --- |
/// | `alloc`, `segment_free`, … | events of this action; `free` and `segment` stand for all that start so |
/// | `0x7f21ac000200`, `addr:0x…` | events whose block or segment contains the address |
/// | `>1MiB`, `size<=512`, `=2GiB` | events of such a size |
/// | `stream:7` | events on the stream |
/// | `#1234`, `event:1234` | the event of this number |
/// | `stack:TEXT`, anything else, or in quotes | events with this text in a frame (`file:line function`), in any case |
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventSearch {
    terms: Vec<Term>,
}

impl EventSearch {
    /// Read a search.
    ///
    /// # Errors
    /// When a term that starts like a size, an address, a stream or an event is none.
    pub fn parse(text: &str) -> Result<Self, SearchError> {
        let words = split(text).filter(|(word, _)| !word.is_empty());
        Ok(Self { terms: words.map(|(word, is_quoted)| term(word, is_quoted)).collect::<Result<_, _>>()? })
    }

    /// Whether there is nothing to search for, so that everything matches.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The events that match, of all or of some.
    pub fn run(&self, snapshot: &Snapshot, timeline: &Timeline, among: Option<&EventSet>) -> EventMatches {
        let checks: Vec<Check> = self.terms.iter().map(|term| Check::new(term, snapshot)).collect();
        let events = &timeline.events;
        let matching = |chunk: usize| -> Vec<u32> {
            let rows = chunk * CHUNK..events.len().min((chunk + 1) * CHUNK);
            matches_in(rows, events, among, &checks)
        };
        let found: Vec<Vec<u32>> = (0..events.len().div_ceil(CHUNK)).into_par_iter().map(matching).collect();
        EventMatches { rows: found.concat() }
    }
}

/// Words, and whether they were in quotes. A quote that is not closed ends with the text.
fn split(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        if let Some(inner) = rest.strip_prefix('"') {
            let (word, after) = inner.split_once('"').unwrap_or((inner, ""));
            rest = after.trim_start();
            return Some((word, true));
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after.trim_start();
        (!word.is_empty()).then_some((word, false))
    })
}

fn term(word: &str, is_quoted: bool) -> Result<Term, SearchError> {
    if is_quoted {
        return Ok(Term::Text(word.to_lowercase()));
    }
    let lower = word.to_lowercase();
    let after = |prefix: &str| lower.strip_prefix(prefix);
    let comparison = after("size").unwrap_or(&lower);
    if comparison.starts_with(['>', '<', '=']) {
        return size_range(comparison).map(Term::Size).ok_or_else(|| SearchError::Size(word.to_owned()));
    }
    if let Some(digits) = after("0x").or(after("addr:0x")) {
        let address = u64::from_str_radix(digits, 16).ok();
        return address.map(Term::Address).ok_or_else(|| SearchError::Address(word.to_owned()));
    }
    if let Some(number) = after("stream:").or(after("stream=")) {
        return number.parse().ok().map(Term::Stream).ok_or_else(|| SearchError::Stream(word.to_owned()));
    }
    if let Some(number) = after("#").or(after("event:")) {
        let plain = number.replace(',', "");
        return plain.parse().ok().map(Term::Event).ok_or_else(|| SearchError::Event(word.to_owned()));
    }
    Ok(match after("stack:") {
        Some(text) => Term::Text(text.to_owned()),
        None => Term::Word(lower),
    })
}

fn size_range(word: &str) -> Option<RangeInclusive<i64>> {
    let (first, rest) = word.split_at(1);
    let (is_equal, number) = match rest.strip_prefix('=') {
        Some(number) => (true, number),
        None => (first == "=", rest),
    };
    let size = units::parse_bytes(number)?;
    Some(match (first, is_equal) {
        (">", true) => size..=i64::MAX,
        (">", false) => size.checked_add(1)?..=i64::MAX,
        ("<", true) => i64::MIN..=size,
        ("<", false) => i64::MIN..=size.checked_sub(1)?,
        _ => size..=size,
    })
}

/// A term, prepared for one file.
enum Check {
    Address(u64),
    Size(RangeInclusive<i64>),
    Stream(i64),
    Event(u32),
    /// One of these actions, or one of these stacks.
    ActionOrStack {
        actions: Vec<Action>,
        stacks: Vec<bool>,
    },
}

impl Check {
    fn new(term: &Term, snapshot: &Snapshot) -> Self {
        match term {
            Term::Address(address) => Self::Address(*address),
            Term::Size(range) => Self::Size(range.clone()),
            Term::Stream(stream) => Self::Stream(*stream),
            Term::Event(event) => Self::Event(*event),
            Term::Text(text) => {
                Self::ActionOrStack { actions: Vec::new(), stacks: stacks_with(snapshot, text) }
            }
            Term::Word(word) => {
                let actions = actions_named(snapshot, word);
                // A name of an action means the action, although some frame may have it too.
                let stacks = if actions.is_empty() { stacks_with(snapshot, word) } else { Vec::new() };
                Self::ActionOrStack { actions, stacks }
            }
        }
    }

    #[inline]
    fn holds(&self, events: &EventTable, ix: EventIx) -> bool {
        match self {
            Self::Size(range) => range.contains(&events.size(ix)),
            Self::Address(address) => contains(events, ix, *address),
            Self::Stream(stream) => events.stream(ix) == Some(*stream),
            Self::Event(event) => ix.0 == *event,
            Self::ActionOrStack { actions, stacks } => {
                actions.contains(&events.action(ix))
                    || stacks.get(events.stack(ix).index()).is_some_and(|&holds| holds)
            }
        }
    }
}

/// Whether an event is about memory that contains an address. What an `oom` has in the place of an
/// address is none.
#[inline]
fn contains(events: &EventTable, ix: EventIx, address: u64) -> bool {
    let Some(offset) = events.addr(ix).and_then(|addr| address.checked_sub(addr)) else { return false };
    (offset == 0 || i64::try_from(offset).is_ok_and(|offset| offset < events.size(ix)))
        && events.action(ix) != Action::Oom
}

fn matches_in(
    rows: Range<usize>,
    events: &EventTable,
    among: Option<&EventSet>,
    checks: &[Check],
) -> Vec<u32> {
    let all = (rows.start as u32..rows.end as u32).map(EventIx);
    let some = all.filter(|&event| among.is_none_or(|among| among.contains(event)));
    some.filter(|&event| checks.iter().all(|check| check.holds(events, event))).map(|event| event.0).collect()
}

/// The actions of a file that are called this, or whose names go on after it with `_`.
fn actions_named(snapshot: &Snapshot, word: &str) -> Vec<Action> {
    let name = |action| snapshot.actions.name(action, &snapshot.strings).to_lowercase();
    let is_named = |&action: &Action| {
        let name = name(action);
        name.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    snapshot.actions.all().filter(is_named).collect()
}

/// By stack, whether one of its frames has a text.
fn stacks_with(snapshot: &Snapshot, text: &str) -> Vec<bool> {
    let finder = Finder::new(text);
    let frames: Vec<bool> = (0..snapshot.frames.len() as u32)
        .into_par_iter()
        .map(|id| {
            let frame = super::site_frame(snapshot, crate::model::FrameId(id));
            let line = format!("{}:{} {}", frame.file, frame.line, frame.name).to_lowercase();
            finder.find(line.as_bytes()).is_some()
        })
        .collect();
    let has = |stack: u32| snapshot.stacks.frames(StackId(stack)).iter().any(|frame| frames[frame.index()]);
    (0..snapshot.stacks.len() as u32).into_par_iter().map(has).collect()
}

/// Events that match a search, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventMatches {
    rows: Vec<u32>,
}

impl EventMatches {
    /// How many.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The match of a number, from 0.
    pub fn get(&self, number: usize) -> Option<EventIx> {
        self.rows.get(number).copied().map(EventIx)
    }

    /// How many matches come before an event.
    pub fn count_before(&self, event: EventIx) -> usize {
        self.rows.partition_point(|&row| row < event.0)
    }

    /// Whether an event matches.
    pub fn contains(&self, event: EventIx) -> bool {
        self.rows.binary_search(&event.0).is_ok()
    }

    /// The number of the next match after an event, or of the first after the last. `None` stands
    /// for the place before the first event.
    pub fn next(&self, after: Option<EventIx>) -> Option<usize> {
        let next = after.map_or(0, |event| self.rows.partition_point(|&row| row <= event.0));
        (!self.is_empty()).then_some(if next < self.len() { next } else { 0 })
    }

    /// The number of the match before an event, or of the last before the first.
    pub fn previous(&self, before: Option<EventIx>) -> Option<usize> {
        let next = before.map_or(0, |event| self.count_before(event));
        next.checked_sub(1).or(self.len().checked_sub(1))
    }
}

#[cfg(test)]
#[path = "event_search_tests.rs"]
mod tests;
