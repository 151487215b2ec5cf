//! Events and moments that a query names, found on one device.

use super::compare::Interval;
use crate::{At, MomentError};
use oomscope_model::{Moment, Timeline};

/// Some events of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NamedEvents {
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

impl NamedEvents {
    /// The numbers of the events.
    ///
    /// # Errors
    /// When the device has no such moment.
    pub(super) fn numbers(self, timeline: &Timeline) -> Result<Interval, MomentError> {
        let number = |at| match at {
            // Any number will do to compare with.
            At::Event(event) => Ok(i64::from(event)),
            at => at.moment(timeline).map(event_number),
        };
        Ok(match self {
            Self::Within(interval) => interval,
            Self::After(at) => Interval { first: number(at)?.saturating_add(1), last: i64::MAX },
            Self::Before(at) => Interval { first: i64::MIN, last: number(at)?.saturating_sub(1) },
        })
    }
}

impl When {
    /// The moment; `None` is the cursor.
    ///
    /// # Errors
    /// When the device has no such moment.
    pub(super) fn moment(self, timeline: &Timeline) -> Result<Option<Moment>, MomentError> {
        match self {
            Self::Cursor => Ok(None),
            Self::At(at) => at.moment(timeline).map(Some),
        }
    }
}

/// The event that led to a moment; -1 stands for the state before the first.
pub(super) fn event_number(moment: Moment) -> i64 {
    i64::from(moment.0) - 1
}
