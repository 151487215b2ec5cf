//! One condition of a query, and the subjects of queries.

use super::common_terms::CommonTest;

/// The things that a query asks about. Some terms only have a meaning for one subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The filter of all views.
    Allocations,
    /// The search of the list of events.
    Events,
}

/// One condition, or its opposite. `T` are the tests that only the query's subject has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term<T> {
    pub(super) is_negated: bool,
    pub(super) test: Test<T>,
}

/// A condition. Where there are alternatives, one that holds is enough. Texts are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Test<T> {
    /// Allocations and events can both be asked.
    Common(CommonTest),
    /// Only the query's subject can be asked.
    Own(T),
}
