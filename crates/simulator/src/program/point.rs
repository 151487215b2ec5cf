//! Points in a program between and at its events.

use oomscope_model::{EventIx, Moment};

/// The place of an event among the points around it.
const AT_EVENT: u64 = 1 << 31;

/// A point in a changed program: an event of the recording, or a place before or after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point(u64);

impl Point {
    /// Before the first event.
    pub const START: Self = Self(0);
    /// After everything.
    pub const NEVER: Self = Self(u64::MAX);

    /// The change that leads to a moment.
    #[inline]
    pub fn of(moment: Moment) -> Self {
        moment.event().map_or(Self::START, Self::at)
    }

    /// An event.
    #[inline]
    pub fn at(event: EventIx) -> Self {
        Self((u64::from(event.0) + 1) << 32 | AT_EVENT)
    }

    /// Right before an event: of several such points, the one with the lower rank comes first.
    pub fn before(event: EventIx, rank: u32) -> Self {
        Self((u64::from(event.0) + 1) << 32 | u64::from(rank).min(AT_EVENT - 1))
    }

    /// Right after an event: of several such points, the one with the lower rank comes first.
    pub fn after(event: EventIx, rank: u32) -> Self {
        Self(
            (u64::from(event.0) + 1) << 32
                | (AT_EVENT + 1).saturating_add(u64::from(rank)).min((AT_EVENT << 1) - 1),
        )
    }

    /// The event at or around which it lies; `None` before the first and after all.
    #[inline]
    pub fn event(self) -> Option<EventIx> {
        let number = self.0 >> 32;
        (self != Self::NEVER && number != 0).then(|| EventIx((number - 1) as u32))
    }

    /// The number of moments that are led to by changes before it or at it.
    pub(super) fn moments_up_to(self) -> usize {
        if self == Self::NEVER {
            return usize::MAX;
        }
        let is_after = u64::from(AT_EVENT <= self.0 & u64::from(u32::MAX));
        ((self.0 >> 32) + is_after).max(1) as usize
    }

    /// The moment after the events up to it.
    pub fn moment(self) -> Moment {
        match self.event() {
            _ if self == Self::NEVER => Moment(u32::MAX),
            Some(event) if self < Self::at(event) => Moment(event.0),
            Some(event) => Moment::after(event),
            None => Moment::START,
        }
    }
}
