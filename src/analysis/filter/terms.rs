//! What a query says, once it is understood.

use super::quantity::Interval;
use crate::analysis::{At, Basis};
use crate::model::PoolKey;

/// One condition, or its opposite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) is_negated: bool,
    pub(super) test: Test,
}

/// A condition. Where there are alternatives, one that holds is enough. Texts are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Test {
    Size(Vec<Interval>),
    Lifetime(Vec<Span>),
    /// Any frame of the stack, as `file:line function`, has one of the texts.
    Stack(Vec<String>),
    /// The first frame of the user's own code has one of the texts.
    Site(Vec<String>),
    Stream(Vec<i64>),
    Pool(Vec<PoolIs>),
    Addr(Vec<AddressRange>),
    Category(Vec<String>),
    /// How surely the category is known.
    Basis(Vec<Basis>),
    /// The name of the rule that decided the category has one of the texts.
    Rule(Vec<String>),
    Meta(Vec<String>),
    /// Which event allocated it.
    Event(Vec<EventSet>),
    Live(Vec<When>),
    /// Given back and waiting for a stream, at the cursor.
    Awaiting,
    /// Never freed.
    Kept,
    /// From before the first event.
    Before,
}

/// How long an allocation lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Span {
    Microseconds(Interval),
    Events(Interval),
}

/// Which pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PoolIs {
    /// Any but the default.
    Private,
    /// This one.
    Key(PoolKey),
}

/// Addresses from `first` to `last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AddressRange {
    pub(super) first: u64,
    pub(super) last: u64,
}

/// Some events of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventSet {
    Within(Interval),
    After(At),
    Before(At),
}

/// A moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Cursor,
    At(At),
}

impl Test {
    /// Whether the answer changes with the cursor.
    pub(super) fn is_cursor_dependent(&self) -> bool {
        match self {
            Self::Live(moments) => moments.contains(&When::Cursor),
            Self::Awaiting => true,
            _ => false,
        }
    }
}
