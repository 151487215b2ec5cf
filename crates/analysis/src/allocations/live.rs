//! Moments that users name, and the allocations that are live at a moment.

use oomscope_model::{Allocation, Bytes, EventIx, Moment, StackId, Timeline};
use std::collections::BTreeMap;
use thiserror::Error;

/// A moment that users name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The first moment with the most active bytes.
    Peak,
    /// After the last request that could not be met.
    Oom,
    /// After the last event.
    End,
    /// After the event with this index.
    Event(u32),
}

impl At {
    /// The moment to look at unless the user names one: the last OOM, or the peak if nothing failed.
    pub fn oom_or_peak(timeline: &Timeline) -> Self {
        if timeline.ooms.is_empty() { Self::Peak } else { Self::Oom }
    }

    /// This moment on a device.
    ///
    /// # Errors
    ///
    /// If the device has no OOM, or fewer events.
    pub fn moment(self, timeline: &Timeline) -> Result<Moment, MomentError> {
        let events = timeline.events.len();
        match self {
            Self::Peak => Ok(timeline.active.peak().0),
            Self::End => Ok(Moment(events as u32)),
            Self::Oom => timeline.ooms.last().map(|oom| Moment::after(oom.event)).ok_or(MomentError::NoOom),
            Self::Event(event) if (event as usize) < events => Ok(Moment::after(EventIx(event))),
            Self::Event(event) => Err(MomentError::NoSuchEvent { event, events }),
        }
    }
}

/// A moment that does not exist on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MomentError {
    /// No OOM was recorded.
    #[error("no out-of-memory event was recorded")]
    NoOom,
    /// There are fewer events.
    #[error("expected an event below {events}, found {event}")]
    NoSuchEvent {
        /// The event that was asked for.
        event: u32,
        /// The number of events.
        events: usize,
    },
}

/// The allocations that are live at a moment, largest first; equal ones by address.
pub fn live_at(timeline: &Timeline, moment: Moment) -> Vec<Allocation> {
    let mut live: Vec<Allocation> =
        timeline.lifetimes.live_at(moment).map(|id| timeline.allocation(id)).collect();
    live.sort_by_key(|a| (std::cmp::Reverse(a.size), a.addr));
    live
}

/// The allocations with one stack, in figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SiteTotal {
    /// The stack.
    pub stack: StackId,
    /// Requested bytes of its allocations.
    pub bytes: Bytes,
    /// Number of its allocations.
    pub count: usize,
    /// Requested bytes of the largest of them.
    pub largest: Bytes,
}

/// The stacks of some allocations, most bytes first.
pub fn sites<'a>(allocations: impl IntoIterator<Item = &'a Allocation>) -> Vec<SiteTotal> {
    let mut totals: BTreeMap<StackId, SiteTotal> = BTreeMap::new();
    for a in allocations {
        let site = totals.entry(a.stack).or_insert(SiteTotal {
            stack: a.stack,
            bytes: Bytes::ZERO,
            count: 0,
            largest: Bytes::ZERO,
        });
        site.bytes += a.size;
        site.count += 1;
        site.largest = site.largest.max(a.size);
    }
    let mut totals: Vec<SiteTotal> = totals.into_values().collect();
    totals.sort_by_key(|site| (std::cmp::Reverse(site.bytes), site.stack));
    totals
}
