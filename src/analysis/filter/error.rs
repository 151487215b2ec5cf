//! What is wrong with a query, and where.

use crate::units;
use std::ops::Range;
use thiserror::Error;

/// A query that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{problem}")]
pub struct FilterError {
    /// The offending part, in bytes of the query.
    pub range: Range<usize>,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a part of a query.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// `sise>1MB`
    #[error("there is no key {key:?}{}", hint(*.nearest))]
    UnknownKey {
        /// What was found.
        key: String,
        /// The key that is probably meant.
        nearest: Option<&'static str>,
    },
    /// `size>`
    #[error("{key} needs a value: {expected}")]
    MissingValue {
        /// The key.
        key: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// `size>large`
    #[error("{key}: expected {expected}, found {found:?}")]
    BadValue {
        /// The key.
        key: &'static str,
        /// What was expected.
        expected: &'static str,
        /// What was found.
        found: String,
    },
    /// `stream>7`
    #[error("{key} is not compared with < or >; write {key}: and then {expected}")]
    NoComparison {
        /// The key.
        key: &'static str,
        /// What was expected.
        expected: &'static str,
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
    nearest.map_or_else(
        || "; put the text in quotes to search stacks for it".to_owned(),
        |key| format!("; did you mean {key}?"),
    )
}

impl FilterError {
    pub(super) fn new(range: Range<usize>, problem: Problem) -> Self {
        Self { range, problem }
    }

    /// What probably belongs in the place of the offending part.
    pub fn suggestion(&self) -> Option<&'static str> {
        match self.problem {
            Problem::UnknownKey { nearest, .. } => nearest,
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
