//! Queries that were understood: what each of them asks about is in its type.

use super::allocation_terms::AllocationTest;
use super::error::FilterError;
use super::event_terms::EventTest;
use super::parse;
use super::term::{Subject, Term, Test};

/// A query about allocations. The one without terms means every allocation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub(super) terms: Vec<Term<AllocationTest>>,
}

impl Filter {
    /// Understand a query; the syntax is that of [the module](super).
    ///
    /// # Errors
    /// For the first part that cannot be understood, or does not ask about allocations.
    pub fn parse(query: &str) -> Result<Self, FilterError> {
        parse::terms(query, &parse::ALLOCATIONS).map(|terms| Self { terms })
    }

    /// Whether there are no terms, so that nothing is filtered.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether it asks for categories, iterations or phases, which take long to find.
    pub fn needs_attribution(&self) -> bool {
        self.terms.iter().any(|term| match &term.test {
            Test::Common(test) => test.needs_attribution(),
            Test::Own(test) => test.needs_attribution(),
        })
    }

    /// Whether other allocations match when the cursor moves.
    pub fn is_cursor_dependent(&self) -> bool {
        self.own_tests().any(AllocationTest::is_cursor_dependent)
    }

    fn own_tests(&self) -> impl Iterator<Item = &AllocationTest> {
        self.terms.iter().filter_map(|term| match &term.test {
            Test::Common(_) => None,
            Test::Own(test) => Some(test),
        })
    }
}

/// A query about events. The one without terms means every event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventQuery {
    pub(super) terms: Vec<Term<EventTest>>,
}

impl EventQuery {
    /// Understand a query; the syntax is that of [the module](super).
    ///
    /// # Errors
    /// For the first part that cannot be understood, or does not ask about events.
    pub fn parse(query: &str) -> Result<Self, FilterError> {
        parse::terms(query, &parse::EVENTS).map(|terms| Self { terms })
    }

    /// Whether there are no terms, so that everything matches.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether it asks for iterations or phases, which take long to find.
    pub fn needs_attribution(&self) -> bool {
        self.terms.iter().any(|term| match &term.test {
            Test::Common(test) => test.needs_attribution(),
            Test::Own(_) => false,
        })
    }
}

impl Subject {
    /// The first part of a query that cannot be understood, or does not ask about the subject.
    pub fn error_in(self, query: &str) -> Option<FilterError> {
        match self {
            Self::Allocations => Filter::parse(query).err(),
            Self::Events => EventQuery::parse(query).err(),
        }
    }
}
