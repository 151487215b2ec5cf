//! Errors in a query: the part that is wrong, and the reason.

use super::term::Subject;
use oomscope_units as units;
use std::ops::Range;
use thiserror::Error;

/// A query that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{problem}")]
pub struct FilterError {
    /// The offending part, in bytes of the query.
    pub range: Range<usize>,
    /// The reason.
    pub problem: Problem,
}

/// The reason why a part of a query cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// `sise>1MB`
    #[error("there is no key {key:?}{}", hint(*.nearest))]
    UnknownKey {
        /// The text that was found.
        key: String,
        /// The key that is probably meant.
        nearest: Option<&'static str>,
    },
    /// `size>`
    #[error("{key} needs a value: {expected}")]
    MissingValue {
        /// The key.
        key: &'static str,
        /// The values that were expected.
        expected: &'static str,
    },
    /// `size>large`
    #[error("{key}: expected {expected}, found {found:?}{}", meant(*.nearest))]
    BadValue {
        /// The key.
        key: &'static str,
        /// The values that were expected.
        expected: &'static str,
        /// The text that was found.
        found: String,
        /// The value that is probably meant, where only some are known.
        nearest: Option<&'static str>,
    },
    /// `stream>7`
    #[error("{key} is not compared with < or >; write {key}: and then {expected}")]
    NoComparison {
        /// The key.
        key: &'static str,
        /// The values that were expected.
        expected: &'static str,
    },
    /// `lifetime<1s` where events are searched, `action:oom` where allocations are
    #[error("{term} asks about {}", elsewhere(*asked, *stands_alone))]
    OtherSubject {
        /// The name of the term.
        term: &'static str,
        /// The query's subject.
        asked: Subject,
        /// Whether the term has no value, so that it could be a text as well.
        stands_alone: bool,
    },
    /// `kept:1`
    #[error("{flag} stands alone, without a value")]
    FlagWithValue {
        /// The flag.
        flag: &'static str,
    },
    /// `stack:"my file`
    #[error("the quote is not closed")]
    UnclosedQuote,
    /// `a|`
    #[error("expected a text on both sides of |")]
    MissingAlternative,
    /// `-`
    #[error("expected a term right behind the sign that negates it")]
    NothingNegated,
}

fn hint(nearest: Option<&'static str>) -> String {
    match nearest {
        Some(_) => meant(nearest),
        None => "; put the text in quotes to search stacks for it".to_owned(),
    }
}

fn meant(nearest: Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |word| format!("; did you mean {word}?"))
}

/// Where a term is understood that has no meaning for a subject.
fn elsewhere(asked: Subject, stands_alone: bool) -> String {
    let place = match asked {
        Subject::Events => "allocations; it belongs in the filter",
        Subject::Allocations => "events; it belongs in the search of the list of events",
    };
    let hint = if stands_alone { ", or in quotes to search stacks for it" } else { "" };
    format!("{place}{hint}")
}

impl FilterError {
    pub(super) fn new(range: Range<usize>, problem: Problem) -> Self {
        Self { range, problem }
    }

    /// The word that probably belongs in the place of the offending part.
    pub fn suggestion(&self) -> Option<&'static str> {
        match self.problem {
            Problem::UnknownKey { nearest, .. } | Problem::BadValue { nearest, .. } => nearest,
            _ => None,
        }
    }
}

/// A part of a query, as an error shows it.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut out: String = text.chars().take(LONGEST).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    units::printable(&out)
}
