//! Moments that a query names, on one device.

use super::quantity::Interval;
use super::terms::{EventSet, When};
use crate::analysis::{At, MomentError, resolve};
use crate::model::{Moment, Timeline};

/// The event that led to a moment; -1 stands for the state before the first.
pub(super) fn event_number(moment: Moment) -> i64 {
    i64::from(moment.0) - 1
}

/// The numbers of the events.
///
/// # Errors
/// When the device has no such moment.
pub(super) fn events(set: EventSet, timeline: &Timeline) -> Result<Interval, MomentError> {
    let number = |at| match at {
        // Any number will do to compare with.
        At::Event(event) => Ok(i64::from(event)),
        at => resolve(at, timeline).map(event_number),
    };
    Ok(match set {
        EventSet::Within(interval) => interval,
        EventSet::After(at) => Interval { first: number(at)?.saturating_add(1), last: i64::MAX },
        EventSet::Before(at) => Interval { first: i64::MIN, last: number(at)?.saturating_sub(1) },
    })
}

/// The moment; `None` is the cursor.
///
/// # Errors
/// When the device has no such moment.
pub(super) fn moment(when: When, timeline: &Timeline) -> Result<Option<Moment>, MomentError> {
    match when {
        When::Cursor => Ok(None),
        When::At(at) => resolve(at, timeline).map(Some),
    }
}
